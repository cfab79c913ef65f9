"""Rules of the scanner, and the character classes that they use.

``PARTS`` are named expressions, and ``RULES`` pairs expressions with actions. The longest match wins, and
the first of equally long ones. In a rule ``expression / context`` the context must follow and counts towards
the length of the match, but is not part of the token. Letters outside brackets match both cases, those
inside brackets only themselves, as in the reference.

Character classes are sets of UTF-16 code units. The reference was generated from the Unicode tables of its
day and never saw later ones, so these classes are frozen: taking them from the running Python would let newer
letters in. They were established by feeding every code unit to the reference in several contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNITS = 0x10000  # text is scanned as UTF-16 code units, as Java does
Charset = NDArray[np.bool_]
#: A named part of the rules: an expression, or a function that returns a set.
Part = str | Callable[[], Charset]

# Letters of Unicode 6.2 outside the surrogate range.
_LETTERS = """
    41-5a 61-7a aa b5 ba c0-d6 d8-f6 f8-2c1 2c6-2d1 2e0-2e4 2ec 2ee 370-374 376-377 37a-37d 386 388-38a 38c
    38e-3a1 3a3-3f5 3f7-481 48a-527 531-556 559 561-587 5d0-5ea 5f0-5f2 620-64a 66e-66f 671-6d3 6d5 6e5-6e6
    6ee-6ef 6fa-6fc 6ff 710 712-72f 74d-7a5 7b1 7ca-7ea 7f4-7f5 7fa 800-815 81a 824 828 840-858 8a0 8a2-8ac
    904-939 93d 950 958-961 971-977 979-97f 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bd 9ce 9dc-9dd
    9df-9e1 9f0-9f1 a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39 a59-a5c a5e a72-a74 a85-a8d
    a8f-a91 a93-aa8 aaa-ab0 ab2-ab3 ab5-ab9 abd ad0 ae0-ae1 b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b35-b39
    b3d b5c-b5d b5f-b61 b71 b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 bd0
    c05-c0c c0e-c10 c12-c28 c2a-c33 c35-c39 c3d c58-c59 c60-c61 c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cbd
    cde ce0-ce1 cf1-cf2 d05-d0c d0e-d10 d12-d3a d3d d4e d60-d61 d7a-d7f d85-d96 d9a-db1 db3-dbb dbd dc0-dc6
    e01-e30 e32-e33 e40-e46 e81-e82 e84 e87-e88 e8a e8d e94-e97 e99-e9f ea1-ea3 ea5 ea7 eaa-eab ead-eb0
    eb2-eb3 ebd ec0-ec4 ec6 edc-edf f00 f40-f47 f49-f6c f88-f8c 1000-102a 103f 1050-1055 105a-105d 1061
    1065-1066 106e-1070 1075-1081 108e 10a0-10c5 10c7 10cd 10d0-10fa 10fc-1248 124a-124d 1250-1256 1258
    125a-125d 1260-1288 128a-128d 1290-12b0 12b2-12b5 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310
    1312-1315 1318-135a 1380-138f 13a0-13f4 1401-166c 166f-167f 1681-169a 16a0-16ea 1700-170c 170e-1711
    1720-1731 1740-1751 1760-176c 176e-1770 1780-17b3 17d7 17dc 1820-1877 1880-18a8 18aa 18b0-18f5
    1900-191c 1950-196d 1970-1974 1980-19ab 19c1-19c7 1a00-1a16 1a20-1a54 1aa7 1b05-1b33 1b45-1b4b
    1b83-1ba0 1bae-1baf 1bba-1be5 1c00-1c23 1c4d-1c4f 1c5a-1c7d 1ce9-1cec 1cee-1cf1 1cf5-1cf6 1d00-1dbf
    1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe
    1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc 2071 207f 2090-209c 2102 2107
    210a-2113 2115 2119-211d 2124 2126 2128 212a-212d 212f-2139 213c-213f 2145-2149 214e 2183-2184
    2c00-2c2e 2c30-2c5e 2c60-2ce4 2ceb-2cee 2cf2-2cf3 2d00-2d25 2d27 2d2d 2d30-2d67 2d6f 2d80-2d96
    2da0-2da6 2da8-2dae 2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde 2e2f 3005-3006
    3031-3035 303b-303c 3041-3096 309d-309f 30a1-30fa 30fc-30ff 3105-312d 3131-318e 31a0-31ba 31f0-31ff
    3400-4db5 4e00-9fcc a000-a48c a4d0-a4fd a500-a60c a610-a61f a62a-a62b a640-a66e a67f-a697 a6a0-a6e5
    a717-a71f a722-a788 a78b-a78e a790-a793 a7a0-a7aa a7f8-a801 a803-a805 a807-a80a a80c-a822 a840-a873
    a882-a8b3 a8f2-a8f7 a8fb a90a-a925 a930-a946 a960-a97c a984-a9b2 a9cf aa00-aa28 aa40-aa42 aa44-aa4b
    aa60-aa76 aa7a aa80-aaaf aab1 aab5-aab6 aab9-aabd aac0 aac2 aadb-aadd aae0-aaea aaf2-aaf4 ab01-ab06
    ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e abc0-abe2 ac00-d7a3 d7b0-d7c6 d7cb-d7fb f900-fa6d fa70-fad9
    fb00-fb06 fb13-fb17 fb1d fb1f-fb28 fb2a-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fbb1 fbd3-fd3d
    fd50-fd8f fd92-fdc7 fdf0-fdfb fe70-fe74 fe76-fefc ff21-ff3a ff41-ff5a ff66-ffbe ffc2-ffc7 ffca-ffcf
    ffd2-ffd7 ffda-ffdc
"""

# Combining marks and the like that may stand inside a word, but not inside a hyphenated compound. 00ad:
# soft hyphen.
_WORD_EXTRAS = """
    ad 2c2-2c5 2d2-2df 2e5-2eb 2ed 2ef-36f 375 378-379 384-385 3f6 483-487 55a-55f 591-5bd 5bf 5c1-5c2
    5c4-5c5 5c7 615-61a 64b-65e 670 6d6-6e4 6e7-6ed 6fd-6fe 70f 711 730-74c 7a6-7b0 7eb-7f3 900-903 93c
    93e-94e 951-955 962-963 981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd 9d7 9e2-9e3 a01-a03 a3c a3e-a4f a81-a83 abc
    abe-acf b82 bbe-bc2 bc6-bc8 bca-bcd c01-c03 c3e-c56 d3e-d44 d46-d48 e31 e34-e3a e47-e4e eb1 eb4-ebc
    ec8-ecd
"""

_DIGITS = """
    30-39 660-669 6f0-6f9 7c0-7c9 966-96f 9e6-9ef a66-a6f ae6-aef b66-b6f be6-bef c66-c6f ce6-cef d66-d6f
    e50-e59 ed0-ed9 f20-f29 1040-1049 1090-1099 17e0-17e9 1810-1819 1946-194f 19d0-19d9 1a80-1a89 1a90-1a99
    1b50-1b59 1bb0-1bb9 1c40-1c49 1c50-1c59 a620-a629 a8d0-a8d9 a900-a909 a9d0-a9d9 aa50-aa59 abf0-abf9
    ff10-ff19
"""

# Cased letters that were caseless then, and capital letterlike symbols.
_CHEROKEE = "13a0-13f4"
_CAPITAL_SYMBOLS = "2160-216f 24b6-24cf"


def charset(ranges: Iterable[tuple[int, int]]) -> Charset:
    """Return the set of all units in some ranges, first and last included."""
    members = np.zeros(UNITS, dtype=np.bool_)
    for low, high in ranges:
        members[low : high + 1] = True
    return members


def _parse(text: str) -> Charset:
    pairs = [item.split("-") for item in text.split()]
    return charset((int(pair[0], 16), int(pair[-1], 16)) for pair in pairs)


def letters() -> Charset:
    return _parse(_LETTERS)


def word_letters() -> Charset:
    return letters() | _parse(_WORD_EXTRAS)


def digits() -> Charset:
    return _parse(_DIGITS)


def capitals() -> Charset:
    members = _parse(_CAPITAL_SYMBOLS)
    for unit in letters().nonzero()[0].tolist():
        if chr(unit).isupper():
            members[unit] = True
    return members & ~_parse(_CHEROKEE)


class LexerRule(NamedTuple):
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

RULES: list[LexerRule] = [
    LexerRule("keep", "cannot", back=3),
    LexerRule("keep", "gonna|gotta|lemme|gimme|wanna", back=2),  # these six: SPLIT_WORDS
    LexerRule("keep", "'t(is|was)", back="(?i:is|was)$"),
    LexerRule("markup", "{SGML}"),
    LexerRule("dash", "&(MD|mdash|ndash);|[\u0096\u0097\u2013-\u2015]"),
    LexerRule("ampersand", "&amp;"),
    LexerRule("keep", "&(HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);"),
    LexerRule("word", "{WORD}", "{REDAUX}", _APOSTROPHE),
    LexerRule("word", "{SWORD}", "{SREDAUX}", "[nN][^nN]+$"),
    LexerRule("word", "{WORD}"),
    LexerRule(
        "keep",
        "{APOS}n{APOS}?|[lLdDjJ]{APOS}|dunkin{APOS}|somethin{APOS}|ol{APOS}|{APOS}em|{APOS}[2-9]0s|"
        "{APOS}till?|"
        "[A-HJ-XZn]{APOSLIKE}{L}{L}+|{L}{L}*[aeiouyAEIOUY]{APOSLIKE}[aeiouA-Z]{L}*|{APOS}cause|cont'd\\.?|"
        "nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l|o{APOSLIKE}o",
    ),
    LexerRule("keep", "y{APOS}", "{LETTER}", _AFTER_APOSTROPHE),
    LexerRule("keep", "{FULLURL}|{LIKELYURL}|{EMAIL}|{ATNAME}"),
    LexerRule("reduced", "{REDAUX}", "[^A-Za-z]", 1),
    LexerRule("reduced", "{SREDAUX}"),
    LexerRule("keep", "{DATE}"),
    LexerRule("number", "[-+]?({NUM})"),
    LexerRule("keep", "{SUBSUP}"),
    LexerRule("fraction", "{FRACTION}"),
    LexerRule("vulgar", "[\u00bc-\u00be\u2153-\u215e]"),
    LexerRule(
        "keep",
        "-(RRB|LRB|RCB|LCB|RSB|LSB)-|c\\.d\\.s|pro-|anti-|s(&|&amp;)p-500|s(&|&amp;)ls|cap{APOS}n|"
        "c{APOS}est|c\\+\\+|c#|f#",
    ),
    LexerRule("keep", "{SLASHED}"),
    LexerRule("keep", "[A-Z]*\\$|#"),
    LexerRule("currency", "[\u00a2-\u00a5\u0080\u20a0\u20ac\u060b\u0e3f\u20a4\uffe0\uffe1\uffe5\uffe6]"),
    LexerRule("abbreviation_end", "{ABBREV1}", "{SENTEND}", _BREAK),
    LexerRule("keep", "{ABBREV1}", "{ANY}{ANY}", 2),
    LexerRule("abbreviation_end", "{ABBREV1}"),
    LexerRule("keep", "{ABBREV2}"),
    LexerRule("keep", "{ABBREV3}", "({SPACENL})?[0-9]", r"(?<=\.)"),
    LexerRule("keep", "[A-Za-z]", "\\.({SPACENL})+({STARTER}|{SGML})({SPACENL})", r"\."),
    LexerRule("keep", "[A-Za-z]\\."),
    LexerRule("abbreviation_end", "{ACRONYM}", "({SPACENL})+({STARTER}|{SGML})({SPACENL})", _BREAK),
    LexerRule("keep", "{ACRONYM}"),
    LexerRule("keep", "{APOS}[0-9][0-9]", "{SPACENL}", _BREAK),
    LexerRule(
        "keep",
        "({LETTER}|{D})+(\\.({LETTER}|{D})+)*\\.({EXTENSION})",
        "{SPACENL}|[.?!,]",
        r"(?:\r\n|[^\n]|(?<!\r)\n)\Z",
    ),
    LexerRule("word", "{WORD}\\.", "{INSENT}", 1),
    LexerRule("phone", "{PHONE}"),
    LexerRule("open_double", '"|&quot;', "[A-Za-z0-9$]", 1),
    LexerRule("close_double", '"|&quot;'),
    LexerRule("less", "<|&lt;"),
    LexerRule("greater", ">|&gt;"),
    LexerRule("smiley", "{SMILEY}", "[^A-Za-z0-9]", 1),
    LexerRule("smiley", "{ASIAN_SMILEY}"),
    LexerRule("bracket", "[(){}\\[\\]]"),
    LexerRule("hyphens", "-+"),
    LexerRule("ellipsis", "{LDOTS}"),
    LexerRule("keep", "@+|_+|#+"),
    LexerRule("keep", "\\*+|(\\\\\\*){1,3}"),
    LexerRule("keep", "{INSENT}"),
    LexerRule("keep", "[?!]+"),
    LexerRule("keep", "[.\u00a1\u00bf\u037e\u0589\u061f\u06d4\u0700-\u0702\u07fa\u3002]"),
    LexerRule("keep", "[=\\/]"),
    LexerRule("word", "{HTHING}"),
    LexerRule("keep", "{THING}"),
    LexerRule("word", "({THING}|{HTHING})\\.", "{INSENT}", 1),
    LexerRule("thing_amp", "{THINGA}"),
    LexerRule("thing_amp", "{THINGA}\\.", "{INSENT}", 1),
    LexerRule("open_single", "'", "[A-Za-z][^ \\t\\n\\r\u00a0]", 2),
    LexerRule("reduced", "{REDAUX}"),
    LexerRule("quotes", "{QUOTES}"),
    LexerRule("keep", "<<|>>"),
    LexerRule(
        "keep",
        "[+%&~\\^|\\\\\u00a6\u00a7-\u00a9\u00ac\u00ae-\u00b4\u00b6-\u00b9\u00d7\u00f7\u0387\u05be\u05c0\u05c3\u05c6\u05f3"
        "\u05f4\u0600-\u0603\u0606-\u060c\u0614\u061b\u061e\u066a\u066d\u0700-\u070d\u07f6-\u07f8\u0964\u0965\u0e4f"
        "\u1fbd\u2016\u2017\u2020-\u2023\u2030-\u2038\u203b\u203e-\u2042\u2044\u207a-\u207e\u208a-\u208e\u2100-\u214f"
        "\u2190-\u2bff\u3012\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]",
    ),
    LexerRule("skip", "\u0000|({SPACE})+|[\u200b\u200e\u200f\ufeff]|&nbsp;"),
    LexerRule("skip", "{NEWLINE}"),
    LexerRule("skip", "{ANY}"),
]


#: Every plain word that can keep its period. No period follows them in a plain caption.
WORDS_WITH_PERIOD = frozenset(
    [
        *(*_BEFORE_A_BREAK, *_BEFORE_A_NAME, *_BEFORE_A_NUMBER, *_CAPITALISED_STATES),
        *(*_LOWERCASE_COMPANIES, *_LOWERCASE_MANUFACTURE, *"abcdefghijklmnopqrstuvwxyz"),
    ]
)
