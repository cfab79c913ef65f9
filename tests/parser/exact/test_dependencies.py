"""Dependencies of hand-written trees, equal to the reference tool's, and properties of any tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.parser.exact.phrase_trees import Node, read_tree
from captious.parser.exact.typed_dependencies import convert

# Trees, and CoreNLP 3.6.0's head and relation of each word.
NOUN_PHRASES = [
    (
        "(ROOT (NP (NP (DT an) (JJ orange) (NN kite)) (PP (IN above) (NP (PRP$ our) (NN pier)))))",
        "3:det 3:amod 0:root 6:case 6:nmod:poss 3:nmod",
    ),
    (
        "(ROOT (NP (NP (PDT all) (DT the) (NNS plums)) (, ,) (NP (DT a) (JJ sweet) (NN lot)) (. .)))",
        "3:det:predet 3:det 0:root 3:punct 7:det 7:amod 3:appos 3:punct",
    ),
    (
        "(ROOT (NP (NP (DT no) (NN sailor) (POS 's)) (CD three) (JJ old) (NN rope) (NNS ladders)))",
        "2:neg 7:nmod:poss 2:case 7:nummod 7:amod 7:compound 0:root",
    ),
    (
        "(ROOT (NP (NP (DT the) (NN otter)) (NP (PRP itself))))",
        "2:det 0:root 2:nmod:npmod",
    ),
    (
        "(ROOT (NP (QP (IN at) (JJS least) (CD forty)) (NNS geese)))",
        "2:case 3:nmod:npmod 4:nummod 0:root",
    ),
    (
        "(ROOT (NP (QP (JJR more) (IN than) (CD forty)) (NNS geese)))",
        "3:advmod 1:mwe 4:nummod 0:root",
    ),
    (
        "(ROOT (NP (NP (NN soup)) (PP (JJ such) (IN as) (NP (NN borscht)))))",
        "0:root 4:case 2:mwe 1:nmod",
    ),
]
COORDINATION = [
    (
        "(ROOT (NP (DT a) (JJ grey) (CC and) (JJ pink) (NN parrot)))",
        "5:det 5:amod 2:cc 2:conj 0:root",
    ),
    (
        "(ROOT (NP (DT a) (NN lamp) (CC and) (NN piano) (NN stool)))",
        "5:det 5:compound 2:cc 2:conj 0:root",
    ),
    (
        "(ROOT (NP (DT a) (JJ tall) (NN lamp) (CC and) (JJ small) (NN stool)))",
        "3:det 3:amod 0:root 3:cc 6:amod 3:conj",
    ),
    (
        "(ROOT (NP (DT a) (NN lamp) (, ,) (NN stool) (CC and) (NN piano)))",
        "2:det 0:root 2:punct 2:conj 2:cc 2:conj",
    ),
    (
        "(ROOT (NP (NP (NNS lamps)) (, ,) (NP (NNS stools)) (CC and) (NP (DT a) (NN piano))))",
        "0:root 1:punct 1:conj 1:cc 6:det 1:conj",
    ),
    (
        "(ROOT (NP (NP (NNS lamps)) (CONJP (RB as) (RB well) (IN as)) (NP (NNS stools))))",
        "0:root 1:cc 2:mwe 2:mwe 1:conj",
    ),
    (
        "(ROOT (NP (DT both) (NN lamp) (CC and) (NN stool)))",
        "2:cc:preconj 0:root 2:cc 2:conj",
    ),
    (
        "(ROOT (S (NP (NNS goats)) (VP (VP (VBP climb)) (CC and) (ADVP (RB then)) (VP (VBP sleep)))))",
        "2:nsubj 0:root 2:cc 5:advmod 2:conj",
    ),
    (
        "(ROOT (S (NP (NNS goats)) (VP (VBP run) (PP (IN in) (CC and) (IN out) (NP (DT the) (NN barn))))))",
        "2:nsubj 0:root 7:case 3:cc 3:conj 7:det 2:nmod",
    ),
    (
        "(ROOT (S (NP (DT the) (NN goat)) (VP (VBZ is) (UCP (ADJP (JJ tired)) (CC and) (PP (IN in) (NP (DT "
        "the) (NN barn)))))))",
        "2:det 4:nsubj 4:cop 0:root 4:cc 8:case 8:det 4:conj",
    ),
]
VERBS = [
    (
        "(ROOT (S (NP (DT the) (NN tram)) (VP (VBZ is) (VP (VBG being) (VP (VBN repaired) (PP (IN by) (NP "
        "(DT a) (NN crew))))))))",
        "2:det 5:nsubjpass 5:aux 5:auxpass 0:root 8:case 8:det 5:nmod",
    ),
    (
        "(ROOT (S (NP (DT the) (NN tram)) (VP (VBZ is) (ADJP (RB very) (JJ late)))))",
        "2:det 5:nsubj 5:cop 5:advmod 0:root",
    ),
    (
        "(ROOT (S (NP (DT the) (NN tram)) (VP (VBZ is) (PP (IN at) (NP (DT the) (NN depot))))))",
        "2:det 6:nsubj 6:cop 6:case 6:det 0:root",
    ),
    (
        "(ROOT (S (NP (EX there)) (VP (VBZ is) (NP (NP (DT a) (NN tram)) (VP (VBG waiting))))))",
        "2:expl 0:root 4:det 2:nsubj 4:acl",
    ),
    (
        "(ROOT (S (NP (DT the) (NN nurse)) (VP (MD will) (RB not) (VP (VB hand) (NP (DT the) (NN child)) "
        "(NP (DT a) (NN pill)) (NP (NN today))))))",
        "2:det 5:nsubj 5:aux 5:neg 0:root 7:det 5:iobj 9:det 5:dobj 5:nmod:tmod",
    ),
    (
        "(ROOT (S (NP (DT the) (NN nurse)) (VP (VBZ hands) (NP (PRP$ her) (NN child)) (NP (DT a) (NN "
        "pill)))))",
        "2:det 3:nsubj 0:root 5:nmod:poss 3:dep 7:det 3:dobj",
    ),
    (
        "(ROOT (S (NP (DT the) (NN nurse)) (VP (VBD left) (NP-TMP (DT that) (NN noon)))))",
        "2:det 3:nsubj 0:root 5:det 3:nmod:tmod",
    ),
    (
        "(ROOT (S (NP (DT the) (NN nurse)) (VP (VBZ gets) (VP (VBN hurt)))))",
        "2:det 4:nsubjpass 4:auxpass 0:root",
    ),
    (
        "(ROOT (S (NP (DT the) (NN sky)) (VP (VBZ becomes) (NP (DT a) (NN mirror)))))",
        "2:det 3:nsubj 0:root 5:det 3:xcomp",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ puts) (PRT (RP up)) (NP (DT a) (NN tent)) (PP (IN with) "
        "(NP (NN paint))) (PP (IN on)))))",
        "2:det 3:nsubj 0:root 3:compound:prt 6:det 3:dobj 8:case 3:nmod 8:case",
    ),
]
CLAUSES = [
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ tries) (S (VP (TO to) (VP (VB juggle) (NP (NNS "
        "eggs))))))))",
        "2:det 3:nsubj 0:root 5:mark 3:xcomp 5:dobj",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ tells) (NP (DT a) (NN boy)) (S (VP (TO to) (VP (VB "
        "juggle)))))))",
        "2:det 3:nsubj 0:root 5:det 3:dobj 7:mark 3:xcomp",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ reminds) (S (NP (NNS boys)) (VP (TO to) (VP (VB "
        "juggle)))))))",
        "2:det 3:nsubj 0:root 3:dobj 6:mark 3:xcomp",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ is) (VP (VBG singing) (S (VP (VBG juggling)))))))",
        "2:det 4:nsubj 4:aux 0:root 4:advcl",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ says) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ "
        "juggles)))))))",
        "2:det 3:nsubj 0:root 6:mark 6:nsubj 3:ccomp",
    ),
    (
        "(ROOT (S (NP (DT a) (NN clown)) (VP (VBZ sings) (SBAR (IN while) (S (NP (PRP he)) (VP (VBZ "
        "juggles)))))))",
        "2:det 3:nsubj 0:root 6:mark 6:nsubj 3:advcl",
    ),
    (
        "(ROOT (S (SBAR (IN if) (S (NP (PRP it)) (VP (VBZ rains)))) (, ,) (NP (DT the) (NN clown)) (VP "
        "(VBZ sings))))",
        "3:mark 3:nsubj 7:advcl 7:punct 6:det 7:nsubj 0:root",
    ),
    (
        "(ROOT (S (S (VP (VBG juggling))) (VP (VBZ takes) (NP (NN patience)))))",
        "2:csubj 0:root 2:dobj",
    ),
    (
        "(ROOT (NP (NP (DT the) (NN clown)) (SBAR (WHNP (WP who)) (S (VP (VBD was) (VP (VBN hired)))))))",
        "2:det 0:root 5:nsubjpass 5:auxpass 2:acl:relcl",
    ),
    (
        "(ROOT (NP (NP (DT the) (NN clown)) (SBAR (WHNP (WDT that)) (S (NP (NNS boys)) (VP (VBP like))))))",
        "2:det 0:root 5:dobj 5:nsubj 2:acl:relcl",
    ),
    (
        "(ROOT (NP (NP (DT the) (NN town)) (SBAR (WHADVP (WRB where)) (S (NP (NNS clowns)) (VP (VBP "
        "live))))))",
        "2:det 0:root 5:advmod 5:nsubj 2:acl:relcl",
    ),
    (
        "(ROOT (NP (NP (DT the) (NN hour)) (SBAR (IN before) (S (NP (DT the) (NN show)) (VP (VBZ "
        "begins))))))",
        "2:det 0:root 6:mark 5:det 6:nsubj 2:acl",
    ),
    (
        "(ROOT (NP (NP (DT a) (NN way)) (S (VP (TO to) (VP (VB juggle))))))",
        "2:det 0:root 4:mark 2:acl",
    ),
    (
        "(ROOT (S (NP (DT a) (NN boy)) (VP (VBZ sings) (PP (IN without) (S (VP (VBG blinking)))))))",
        "2:det 3:nsubj 0:root 5:mark 3:advcl",
    ),
    (
        "(ROOT (SBARQ (WHNP (WP what)) (SQ (VBZ is) (NP (DT this))) (. ?)))",
        "0:root 1:cop 1:nsubj 1:punct",
    ),
    (
        "(ROOT (SBARQ (WHNP (WP what)) (SQ (VBZ is) (NP (DT the) (NN clown)) (VP (VBG holding))) (. ?)))",
        "5:dobj 5:aux 4:det 5:nsubj 0:root 5:punct",
    ),
]
FRAGMENTS = [
    (
        "(ROOT (FRAG (NP (DT a) (NN clown)) (S (VP (VBG juggling) (NP (NNS eggs)))) (PP (IN near) (NP (DT "
        "a) (NN tent)))))",
        "2:det 0:root 2:dep 3:dobj 7:case 7:det 2:nmod",
    ),
    (
        "(ROOT (X (X (DT the) (RB sooner)) (NP (DT the) (NN show))))",
        "2:det 4:dep 4:det 0:root",
    ),
    (
        "(ROOT (INTJ (UH wow)))",
        "0:root",
    ),
    (
        "(ROOT (S (INTJ (UH hey)) (, ,) (NP (DT the) (NN clown)) (VP (VBZ sings))))",
        "5:discourse 5:punct 4:det 5:nsubj 0:root",
    ),
]
OTHERS = [
    (
        "(ROOT (S (NP (NNS goats)) (VP (VP (VBP climb)) (CC and) (RB then) (VP (VBP sleep)))))",
        "2:nsubj 0:root 2:cc 5:advmod 2:conj",
    ),
    (
        "(ROOT (NP (NP (DT a) (NN barn)) (PRN (-LRB- -LRB-) (NP (NN roof)) (-RRB- -RRB-))))",
        "2:det 0:root 4:punct 2:appos 4:punct",
    ),
    (
        "(ROOT (S (NP (NN milk)) (VP (VBZ is) (VP (VBN sold) (PP (IN because) (IN of) (NP (DT the) (NN "
        "heat)))))))",
        "3:nsubjpass 3:auxpass 0:root 7:case 4:mwe 7:det 3:nmod",
    ),
    (
        "(ROOT (S (NP (DT the) (NN vet)) (VP (VBZ comes) (PP (IN in) (NP (NN order)) (S (VP (TO to) (VP "
        "(VB help))))))))",
        "2:det 3:nsubj 0:root 7:mark 4:mwe 7:mark 3:advcl",
    ),
    (
        "(ROOT (S (S (NP (NNS goats)) (VP (VBP sleep))) (, ,) (S (NP (NNS hens)) (VP (VBP peck)))))",
        "2:nsubj 0:root 2:punct 5:nsubj 2:parataxis",
    ),
    (
        "(ROOT (S (NP (DT a) (NN farmer)) (VP (VBZ has) (S (NP (NNS goats)) (VP (VBG sleeping))))))",
        "2:det 3:nsubj 0:root 5:nsubj 3:ccomp",
    ),
    (
        "(ROOT (S (NP (DT a) (NN farmer)) (VP (VBZ likes) (S (NP (NNS goats)) (VP (VBG sleeping))))))",
        "2:det 3:nsubj 0:root 5:nsubj 3:dep",
    ),
    (
        "(ROOT (S (NP (EX there)) (VP (VBP are) (NP (NNS goats)) (VP (VBN tied)))))",
        "4:expl 4:auxpass 4:nsubjpass 0:root",
    ),
]


@pytest.mark.parametrize(
    ("tree", "expected"), NOUN_PHRASES + COORDINATION + VERBS + CLAUSES + FRAGMENTS + OTHERS
)
def test_hand_written_trees(tree: str, expected: str) -> None:
    heads, relations = convert(read_tree(tree))
    assert " ".join(f"{head}:{name}" for head, name in zip(heads, relations, strict=True)) == expected


def test_times_need_their_annotation() -> None:
    plain = "(ROOT (S (NP (PRP she)) (VP (VBD left) (NP (DT that) (NN noon)))))"
    marked = plain.replace("(NP (DT that)", "(NP-TMP (DT that)")
    assert convert(read_tree(plain))[1][-1] == "dobj"
    assert convert(read_tree(marked))[1][-1] == "nmod:tmod"


def test_deep_trees_are_no_trouble() -> None:
    depth = 3000
    text = "(ROOT " + "(NP " * depth + "(NN end)" + ")" * depth + ")"
    assert convert(read_tree(text)) == ([0], ["root"])


def _list(text: str) -> list[str]:
    return text.split()


TAGS = _list(
    """
    CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN
    VBP VBZ WDT WP WP$ WRB $ # . , : `` '' -LRB- -RRB-
    """
)
PHRASES = _list(
    """
    ADJP ADVP CONJP FRAG INTJ LST NAC NP NP-TMP NX PP PRN PRT QP RRC S SBAR SBARQ SINV SQ UCP VP WHADJP WHADVP
    WHNP WHPP X
    """
)
WORDS = _list(
    "is has get to that whether than as well because of in order at least both not there day who how kite "
    "sings"
)

leaves = st.builds(lambda tag, word: Node(tag, word=word), st.sampled_from(TAGS), st.sampled_from(WORDS))
trees = st.recursive(
    leaves,
    lambda inner: st.builds(Node, st.sampled_from(PHRASES), st.lists(inner, min_size=1, max_size=5)),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None)
@given(trees)
def test_any_tree_gives_one_root_and_no_cycle(inner: Node) -> None:
    tree = read_tree(str(Node("ROOT", [inner])))
    heads, relations = convert(tree)
    size = len(list(tree.leaves()))
    assert len(heads) == len(relations) == size
    assert heads.count(0) == 1
    assert [head == 0 for head in heads] == [name == "root" for name in relations]
    for word in range(1, size + 1):
        steps = 0
        while word:
            word = heads[word - 1]
            steps += 1
            assert steps <= size


@settings(max_examples=100, deadline=None)
@given(trees)
def test_punctuation_is_called_so(inner: Node) -> None:
    tree = read_tree(str(Node("ROOT", [Node("NP", [Node("NN", word="kite"), inner, Node(".", word=".")])])))
    assert convert(tree)[1][-1] == "punct"
