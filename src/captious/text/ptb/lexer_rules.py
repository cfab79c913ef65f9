"""Rules of the scanner.

``PARTS`` are named expressions, and ``RULES`` pairs expressions with actions. The longest match wins, and
the first of equally long ones. In a rule ``expression / context`` the context must follow and counts towards
the length of the match, but is not part of the token. Letters outside brackets match both cases, those
inside brackets only themselves, as in the reference.
"""

from __future__ import annotations

from typing import NamedTuple

from captious.text.ptb.characters import Part, capitals, digits, letters, word_letters


class Rule(NamedTuple):
    action: str  # name of the action in captious.text.ptb.lexer
    expression: str
    context: str = ""
    #: Part of the match that is not part of the token: a number of characters, or everything from the first
    #: match of this pattern.
    back: int | str = 0


def _words(text: str) -> list[str]:
    return text.split()


# Abbreviations after which a capital means that a sentence has ended.
_BEFORE_A_BREAK = _words(
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri "
    "ala ariz calif colo conn ct dak fla ga ind kan kans ky md mich minn mo mont neb nev okla penn tenn va "
    "vt wis wisc "
    "wyo inc co cos corp ltd plc bancorp bhd assn univ intl sys jr sr bros esq tel est ext sq blvd rd rt "
    "bldg etc al seq"
)
# These are followed by a name, so a capital after them says nothing.
_BEFORE_A_NAME = _words(
    "mr mrs ms dr drs prof profs sen sens rep reps atty attys lt col gen messrs gov govs adm rev maj sgt cpl "
    "pvt mt "
    "capt st ste ave pres lieut hon brig cmdr comdr pfc spc supt supts det adj adv asst assoc ens insp mlle "
    "mme msgr "
    "sfc ph ft invt elec natl dept vs alex wm jos cie cf treas"
)
_BEFORE_A_NUMBER = _words("ca fig figs prop no nos art pp op")
# American states whose abbreviation is also a word: only with a capital.
_CAPITALISED_STATES = _words("az ark del ill la mass miss ore pa tex wash")
# Lowercase only, unlike the others.
_LOWERCASE_COMPANIES = _words("pty pte ptys ptes ppty ppte pptys pptes")
_LOWERCASE_MANUFACTURE = _words("mfg mtg")

# After an acronym only these words are taken as the beginning of a new sentence.
_SENTENCE_STARTERS = (
    "[A]|[A]bout|[A]ccording|[A]dditionally|[A]fter|[A]n|[A]s|[A]t|[B]ut|[E]arlier|[H]e|[H]er|[H]ere|"
    "[H]owever|[I]f|"
    "[I]n|[I]t|[L]ast|[M]any|[M]ore|[M]r\\.|[M]s\\.|[N]ow|[O]nce|[O]ne|[O]ther|[O]ur|[S]he|[S]ince|[S]o|"
    "[S]ome|[S]uch|[T]hat|[T]he|"
    "[T]heir|[T]hen|[T]here|[T]hese|[T]hey|[T]his|[W]e|[W]hat|[W]hen|[W]hile|[Y]et|[Y]ou"
)

_NAME = "[A-Za-z][A-Za-z0-9_:.-]*"
_QUOTED = "('[^'\\r\\n]*'|\"[^\"\\r\\n]*\")"

# Where a context begins, for those of no fixed length (Python's own syntax).
_APOSTROPHE = "['\u0092\u2019]|&apos;"
_AFTER_APOSTROPHE = "(?<=['\u0092\u2019;])"
_BREAK = "[ \t\r\n\u000b\u000c\u0085\u00a0\u2000-\u200a\u2028\u2029\u3000]"

PARTS: dict[str, Part] = {
    "L": letters,
    "W": word_letters,
    "D": digits,
    "CAP": capitals,
    "ANY": "[\u0000-\uffff]",
    # --- white space and what ends a sentence
    "SPACE": "[ \\t\u00a0\u2000-\u200a\u3000]",
    "NEWLINE": "\\r|\\r?\\n|[\u000b\u000c\u0085\u2028\u2029]",
    "SPACENL": "{SPACE}|{NEWLINE}",
    "SGML": "<[!?][A-Za-z-][^>\\r\\n]*>"
    f"|<{_NAME}([ ]+({_NAME}|{_NAME}[ ]*=[ ]*{_QUOTED}))*[ ]*\\/?[ ]*>|<\\/{_NAME}[ ]*>",
    "SENTEND": "{SPACENL}({SPACENL}|{CAP}|{SGML})",
    # --- words
    "LETTER": "{W}|&[aeiouAEIOU](acute|grave|uml);",
    "WORD": "{LETTER}({LETTER}|{D})*([.!?]{LETTER}({LETTER}|{D})*)*",
    "APOS": "['\u0092\u2019]|&apos;",
    "APOSLIKE": "{APOS}|[`\u0091\u2018\u201b]",
    "REDAUX": "{APOS}([msdMSD]|re|ve|ll)",
    "SREDAUX": "n{APOSLIKE}t",
    "SWORD": "[A-Za-z\u00ad]*[A-MO-Za-mo-z]\u00ad*",
    "HYPHEN": "[-_\u058a\u2010\u2011]",
    "ALNUM": "{L}|{D}",
    "COMPOUND": "([dDoOlL]{APOSLIKE}({ALNUM}))?({ALNUM})+",
    "THING": "{COMPOUND}({HYPHEN}{COMPOUND})*",
    "ACRO": "[A-Za-z](\\.[A-Za-z])+|(canada|sino|korean|eu|japan|non)-u\\.s|u\\.s\\.-(u\\.k|u\\.s\\.s\\.r)",
    "HTHING": "[A-Za-z0-9][A-Za-z0-9.,\u00ad]*(-([A-Za-z0-9\u00ad]+|({ACRO})\\.))+",
    "THINGA": "[A-Z]+([+&]|&amp;)[A-Z]+(([+&]|&amp;)[A-Z]+)*",
    "SLASHED": "[A-Za-z0-9]+(-[A-Za-z]+){0,2}(\\\\?\\/[A-Za-z0-9]+(-[A-Za-z]+){0,2}){1,2}",
    "EXTENSION": "bat|bmp|c|class|cgi|cpp|dll|doc|docx|exe|gif|gz|h|htm|html|jar|java|jpeg|jpg|mov|mp3|"
    "pdf|php|pl|png|"
    "ppt|ps|py|sql|tar|txt|wav|x|xml|zip",
    # --- numbers
    "NUM": "{D}+|{D}*([.:,\u00ad\u066b\u066c]{D}+)+",
    "DATE": "{D}{1,2}[-\\/]{D}{1,2}[-\\/]{D}{2,4}",
    "SUBSUP": "[\u207a\u207b\u208a\u208b]?([\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+|[\u2080-\u2089]+)",
    "FRACTION": "({D}{1,4}[- \u00a0])?{D}{1,4}(\\\\?\\/|\u2044){D}{1,4}",
    "PHONE": "(\\([0-9]{2,3}\\)[ \u00a0]?|(\\+\\+?)?([0-9]{2,4}[- \u00a0])?[0-9]{2,4}[- "
    "\u00a0])[0-9]{3,4}[- \u00a0]?"
    "[0-9]{3,5}|((\\+\\+?)?[0-9]{2,4}\\.)?[0-9]{2,4}\\.[0-9]{3,4}\\.[0-9]{3,5}",
    # --- addresses
    "FULLURL": 'https?:\\/\\/[^ \\t\\n\\f\\r"<>|(){}]+[^ \\t\\n\\f\\r"<>|.!?(){},-]',
    "LIKELYURL": '(www\\.([^ \\t\\n\\f\\r"<>|.!?(){},]+\\.)+[a-zA-Z]{2,4}'
    "|([^ \\t\\n\\f\\r\"`'<>|.!?(){},-_$]+\\.)+(com|net|org|edu))"
    '(\\/[^ \\t\\n\\f\\r"<>|()]+[^ \\t\\n\\f\\r"<>|.!?(){},-])?',
    "EMAIL": '(&lt;|<)?[a-zA-Z0-9][^ \\t\\n\\f\\r"<>|()\u00a0{}]*@([^ \\t\\n\\f\\r"<>|(){}.\u00a0]+\\.)*'
    '[^ \\t\\n\\f\\r"<>|(){}.\u00a0]+(&gt;|>)?',
    "ATNAME": "@[a-zA-Z_][a-zA-Z_0-9]*|#({LETTER})+",
    # --- abbreviations
    "ABBREV1": f"({'|'.join(_BEFORE_A_BREAK)}|"
    f"{'|'.join(f'[{w[0].upper()}]{w[1:]}' for w in _CAPITALISED_STATES)}|pp?t[ye]s?|(ed|ph)\\.d)\\.",
    "ABBREV2": f"({'|'.join(_BEFORE_A_NAME)}|m[ft]g|a\\.k\\.a)\\.",
    "ABBREV3": f"({'|'.join(_BEFORE_A_NUMBER)})\\.",
    "ACRONYM": "({ACRO})\\.",
    "STARTER": _SENTENCE_STARTERS,
    # --- signs
    "QUOTES": "{APOS}|''|[`\u2018\u2019\u201a\u201b\u201c\u201d\u0091\u0092\u0093\u0094\u201e\u201f"
    "\u2039\u203a\u00ab\u00bb]{1,2}",
    "INSENT": "[,;:\u3001]",
    "LDOTS": "\\.{3,5}|(\\.[ \u00a0]){2,4}\\.|[\u0085\u2026]",
    "SMILEY": "[<>]?[:;=][-o*']?[()DPdpO\\\\{@|\\[\\]]",
    "ASIAN_SMILEY": "[-^x=~<>']_[-^x=~<>']|\\([-^x=~<>'][_.]?[-^x=~<>']\\)|\\([\\^x=~<>']-[\\^x=~<>'`]\\)",
}

# Words made of letters only that become two tokens.
SPLIT_WORDS = ("cannot", "gonna", "gotta", "lemme", "gimme", "wanna")

RULES: list[Rule] = [
    Rule("keep", "cannot", back=3),
    Rule("keep", "gonna|gotta|lemme|gimme|wanna", back=2),  # these six: SPLIT_WORDS
    Rule("keep", "'t(is|was)", back="(?i:is|was)$"),
    Rule("markup", "{SGML}"),
    Rule("dash", "&(MD|mdash|ndash);|[\u0096\u0097\u2013-\u2015]"),
    Rule("ampersand", "&amp;"),
    Rule("keep", "&(HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);"),
    Rule("word", "{WORD}", "{REDAUX}", _APOSTROPHE),
    Rule("word", "{SWORD}", "{SREDAUX}", "[nN][^nN]+$"),
    Rule("word", "{WORD}"),
    Rule(
        "keep",
        "{APOS}n{APOS}?|[lLdDjJ]{APOS}|dunkin{APOS}|somethin{APOS}|ol{APOS}|{APOS}em|{APOS}[2-9]0s|"
        "{APOS}till?|"
        "[A-HJ-XZn]{APOSLIKE}{L}{L}+|{L}{L}*[aeiouyAEIOUY]{APOSLIKE}[aeiouA-Z]{L}*|{APOS}cause|cont'd\\.?|"
        "nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l|o{APOSLIKE}o",
    ),
    Rule("keep", "y{APOS}", "{LETTER}", _AFTER_APOSTROPHE),
    Rule("keep", "{FULLURL}|{LIKELYURL}|{EMAIL}|{ATNAME}"),
    Rule("reduced", "{REDAUX}", "[^A-Za-z]", 1),
    Rule("reduced", "{SREDAUX}"),
    Rule("keep", "{DATE}"),
    Rule("number", "[-+]?({NUM})"),
    Rule("keep", "{SUBSUP}"),
    Rule("fraction", "{FRACTION}"),
    Rule("vulgar", "[\u00bc-\u00be\u2153-\u215e]"),
    Rule(
        "keep",
        "-(RRB|LRB|RCB|LCB|RSB|LSB)-|c\\.d\\.s|pro-|anti-|s(&|&amp;)p-500|s(&|&amp;)ls|cap{APOS}n|"
        "c{APOS}est|c\\+\\+|c#|f#",
    ),
    Rule("keep", "{SLASHED}"),
    Rule("keep", "[A-Z]*\\$|#"),
    Rule("currency", "[\u00a2-\u00a5\u0080\u20a0\u20ac\u060b\u0e3f\u20a4\uffe0\uffe1\uffe5\uffe6]"),
    Rule("abbreviation_end", "{ABBREV1}", "{SENTEND}", _BREAK),
    Rule("keep", "{ABBREV1}", "{ANY}{ANY}", 2),
    Rule("abbreviation_end", "{ABBREV1}"),
    Rule("keep", "{ABBREV2}"),
    Rule("keep", "{ABBREV3}", "({SPACENL})?[0-9]", r"(?<=\.)"),
    Rule("keep", "[A-Za-z]", "\\.({SPACENL})+({STARTER}|{SGML})({SPACENL})", r"\."),
    Rule("keep", "[A-Za-z]\\."),
    Rule("abbreviation_end", "{ACRONYM}", "({SPACENL})+({STARTER}|{SGML})({SPACENL})", _BREAK),
    Rule("keep", "{ACRONYM}"),
    Rule("keep", "{APOS}[0-9][0-9]", "{SPACENL}", _BREAK),
    Rule(
        "keep",
        "({LETTER}|{D})+(\\.({LETTER}|{D})+)*\\.({EXTENSION})",
        "{SPACENL}|[.?!,]",
        r"(?:\r\n|[^\n]|(?<!\r)\n)\Z",
    ),
    Rule("word", "{WORD}\\.", "{INSENT}", 1),
    Rule("phone", "{PHONE}"),
    Rule("open_double", '"|&quot;', "[A-Za-z0-9$]", 1),
    Rule("close_double", '"|&quot;'),
    Rule("less", "<|&lt;"),
    Rule("greater", ">|&gt;"),
    Rule("smiley", "{SMILEY}", "[^A-Za-z0-9]", 1),
    Rule("smiley", "{ASIAN_SMILEY}"),
    Rule("bracket", "[(){}\\[\\]]"),
    Rule("hyphens", "-+"),
    Rule("ellipsis", "{LDOTS}"),
    Rule("keep", "@+|_+|#+"),
    Rule("keep", "\\*+|(\\\\\\*){1,3}"),
    Rule("keep", "{INSENT}"),
    Rule("keep", "[?!]+"),
    Rule("keep", "[.\u00a1\u00bf\u037e\u0589\u061f\u06d4\u0700-\u0702\u07fa\u3002]"),
    Rule("keep", "[=\\/]"),
    Rule("word", "{HTHING}"),
    Rule("keep", "{THING}"),
    Rule("word", "({THING}|{HTHING})\\.", "{INSENT}", 1),
    Rule("thing_amp", "{THINGA}"),
    Rule("thing_amp", "{THINGA}\\.", "{INSENT}", 1),
    Rule("open_single", "'", "[A-Za-z][^ \\t\\n\\r\u00a0]", 2),
    Rule("reduced", "{REDAUX}"),
    Rule("quotes", "{QUOTES}"),
    Rule("keep", "<<|>>"),
    Rule(
        "keep",
        "[+%&~\\^|\\\\\u00a6\u00a7-\u00a9\u00ac\u00ae-\u00b4\u00b6-\u00b9\u00d7\u00f7\u0387\u05be\u05c0\u05c3\u05c6\u05f3"
        "\u05f4\u0600-\u0603\u0606-\u060c\u0614\u061b\u061e\u066a\u066d\u0700-\u070d\u07f6-\u07f8\u0964\u0965\u0e4f"
        "\u1fbd\u2016\u2017\u2020-\u2023\u2030-\u2038\u203b\u203e-\u2042\u2044\u207a-\u207e\u208a-\u208e\u2100-\u214f"
        "\u2190-\u2bff\u3012\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]",
    ),
    Rule("skip", "\u0000|({SPACE})+|[\u200b\u200e\u200f\ufeff]|&nbsp;"),
    Rule("skip", "{NEWLINE}"),
    Rule("skip", "{ANY}"),
]


def words_with_period() -> list[str]:
    """Return every plain word that can keep its period. No period follows them in a plain caption."""
    listed = [*_BEFORE_A_BREAK, *_BEFORE_A_NAME, *_BEFORE_A_NUMBER, *_CAPITALISED_STATES]
    return sorted({*listed, *_LOWERCASE_COMPANIES, *_LOWERCASE_MANUFACTURE, *"abcdefghijklmnopqrstuvwxyz"})
