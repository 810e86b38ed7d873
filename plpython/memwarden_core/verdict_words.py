"""How two words stand to each other: the same, narrower, opposite, of one group, or unknown."""

from __future__ import annotations

from .judge_lexicon import NARROWER, OPPOSITES, SAME, SIBLINGS
from .judge_words import stem
from .verdict_groups import describing_groups, kinds_of_words, naming_groups

# Beside those of the judge of evidence.
_SYNONYMS = """
bike bicycle
cycle bicycle
motorbike motorcycle
cab taxi
lorry truck
aeroplane airplane plane
whisky whiskey
cop policeman
fireman firefighter
attorney lawyer
chef cook
writer author
instructor teacher
kitten kitty
puppy pup
bunny rabbit
rock boulder
forest wood
path trail
sidewalk pavement
garbage trash rubbish
cellphone mobile
yearly annual
woollen woolen
miserable sad
tv television
movie cinema
gift present
couple pair
house home
cafe coffeehouse
jump hop
smile grin
shout yell scream
cry weep
laugh giggle chuckle
talk chat converse speak
throw toss hurl
hit strike
grab seize grasp
climb ascend
push shove
shut close
lift raise
wash clean
sleep doze nap
hike trek
ask inquire
tell inform
try attempt
show exhibit
build construct
destroy demolish
gather collect assemble
teach instruct educate
eat consume
perform play
leap hop jump
dive plunge
attractive pretty beautiful
angry mad furious
sad unhappy
tired weary exhausted
rich wealthy
poor needy
smart clever intelligent
stupid dumb
brave courageous
scared afraid frightened
quiet silent
loud noisy
funny humorous
strange odd weird
famous renowned celebrated
ill sick
thin slim slender
fat obese
wealthy affluent
crucial essential vital
unclothed naked nude
huge gigantic enormous
tiny minuscule
broad wide
correct accurate
difficult hard
easy simple
elderly old aged
couch settee
sweater jumper pullover
spectacles glasses eyeglasses
purse handbag
ill unwell
alone solo
rapid swift
usa america
uk britain
united_states usa
united_states america
united_kingdom britain
united_kingdom uk
holland netherlands
deutschland germany
hamburger burger
grey gray
gold golden
silver silvery
purple violet
aluminium aluminum
jewellery jewelry
argentinian argentine
cocoa hot_chocolate
eggplant aubergine
zucchini courgette
corn maize
fall autumn
supper dinner
physician doctor
begin commence
near beside
behind rear
atop on
postgres postgresql
js javascript
ts typescript
k8s kubernetes
birthday birthdate
spouse partner
salary pay wage
"""

_OPPOSITES = """
accept|refuse
admit|deny
advance,forward|retreat,backward
agree|disagree
ancient,antique|modern
appear|disappear,vanish
ascend|descend
attack|defend
asleep,sleep|awake,wake
bad,poor,awful,terrible|good,great,excellent
beautiful,pretty,attractive|ugly
beginner,novice|expert
beginning|ending
bitter,sour|sweet
bold,brave|coward,timid,cowardly
borrow|lend
bright,light|dark,dim
broken|intact
build,construct,create|destroy,demolish
busy|idle
calm,peaceful|excited,agitated,nervous
ceiling|floor
cheap,inexpensive|expensive,costly
clear|cloudy,opaque
clever,smart,intelligent|stupid,foolish
comedy|tragedy
common|rare
connect|disconnect
cruel|kind
curly|straight
curse|bless
daughter|son
deep|shallow
defeat|victory
demand|supply
departure|arrival
difficult,hard|easy,simple
discourage|encourage
downstairs|upstairs
down|up
dress|undress
drunk|sober
dull,boring|interesting,exciting
dusk|dawn
ebb|flow
elderly,aged|young,youthful
enemy|friend
enter|exit
entrance|exit
evening|morning
evil|good
expand|contract
fail|pass
fake|genuine,real
fat,overweight,obese|thin,skinny,slim
female|male
fiction|nonfiction
final|initial
find|lose
finite|infinite
floor|ceiling
float|sink
forget|remind
formal|informal,casual
frequent,frequently,often|seldom,rarely,infrequently
fresh|stale
frown|smile
generous|stingy
gentle|rough
giant|dwarf
give|take
global|local
guest|host
hard|soft
harmful|harmless
hate|love
healthy|sick,ill,unhealthy
heaven|hell
heavy,heavyweight|light,lightweight
hero|villain
high|low
hire|fire,dismiss
hope|despair
huge,enormous|tiny
include|exclude
indoor|outdoor
introvert|extrovert
junior|senior
king|queen
land|sea
laugh,laughing|cry,crying,weep
lead|follow
legal|illegal,unlawful
lengthen|shorten
liquid|solid
loose|tight
loud,noisy|quiet,silent
major|minor
majority|minority
many|few
melt|freeze
mountain|valley
narrow|wide,broad
natural|artificial
near|distant
night|day
nephew|niece
obey|disobey
odd|even
offer|refuse
offline|online
offense|defense
onshore|offshore
optimist,optimistic|pessimist,pessimistic
overestimate|underestimate
past|future
peace|war
permanent|temporary
plural|singular
polite|rude
positive|negative
presence|absence
present|absent
prince|princess
profit|loss
proud|ashamed
raise|lower
raw|cooked
receive|send
regular|irregular
relax|work
rich,wealthy|poor
rise|set
rural|urban
save|spend
shiny|dull
shout|whisper
sharp|blunt
simple|complex,complicated
smooth|rough
stationary|moving
stay,remain|leave
strength|weakness
strong|weak,feeble
sunny|rainy,cloudy
sunrise|sunset
sweet|salty
synthetic|organic
talk,speak|listen
thick|thin
tie|untie
tired|energetic,rested
together|apart,separately
truth|lie
uncle|aunt
uphill|downhill
upper|lower
usual|unusual
vegetarian,vegan|carnivore
vertical|horizontal
visible|invisible
walk|run
win|lose
winner|loser
with|without
work|rest
actor|actress
waiter|waitress
grandmother|grandfather
grandson|granddaughter
gentleman|lady
bride|groom
lock|unlock
load|unload
pack|unpack
plug|unplug
online|offline
sender|receiver,recipient
employer|employee
landlord|tenant,renter
import|export
input|output
profit|nonprofit
ascent|descent
opponent|supporter,advocate
oppose|support
fasten|unfasten
cover|uncover
wild|tame
alive|deceased
healthy|unwell
dull|bright
cheerful|gloomy,depressed
clockwise|anticlockwise,counterclockwise
manual|automatic
"""

# Of these the evidence has the pairs, but "all" says "some" and more: nothing to contradict.
_MORE_THAN = """
some several few|all every each most many
sometimes|always often
"""
# Who does the first from now on no longer does the second with something else.
_BEGINNINGS = """
move relocate|live reside based
switch migrate change|use run work
join|work employed
become|work serve
rename|call named
"""
_NEGATING = ("un", "non", "dis", "in", "im", "il", "ir")
_MANY = 5


def _stem(word: str) -> str:
    return "_".join(map(stem, word.split("_")))


def _stems(words: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in words.replace(",", " ").split())


def _join(table: dict[str, frozenset[str]], words: frozenset[str], others: frozenset[str]) -> None:
    for word in words:
        # Most words are in one group, and share its set.
        table[word] = table[word] | others if word in table else others


def _synonyms() -> dict[str, frozenset[str]]:
    found = dict(SAME)
    for line in _SYNONYMS.strip().split("\n"):
        group = _stems(line)
        _join(found, group, group)
    return found


def _in_all_words(group: frozenset[str]) -> frozenset[str]:
    """A group, each member also in the other words for it."""
    return group.union(*(SYNONYMS.get(word, frozenset()) for word in group))


def _wider() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for wide, narrow in NARROWER.items():
        _join(found, narrow - {wide}, frozenset({wide}))
    for wides, narrows in kinds_of_words():
        _join(found, _in_all_words(_stems(narrows)), _stems(wides))
    for line in _MORE_THAN.strip().split("\n"):
        less, more = map(_stems, line.split("|"))
        _join(found, more, less)
    return {word: wide - {word} for word, wide in found.items()}


def _rivals() -> dict[str, frozenset[str]]:
    found = dict(SIBLINGS)
    for line in describing_groups() + naming_groups():
        group = _in_all_words(_stems(line))
        _join(found, group, group)
    return found


def _opposites() -> dict[str, frozenset[str]]:
    found = dict(OPPOSITES)
    for line in _OPPOSITES.strip().split("\n"):
        one, other = map(_stems, line.split("|"))
        _join(found, one, other)
        _join(found, other, one)
    quantities = _stems(_MORE_THAN.replace("|", " "))
    return {word: others - quantities for word, others in found.items() if word not in quantities}


def _beginnings() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _BEGINNINGS.strip().split("\n"):
        begins, lasts = map(_stems, line.split("|"))
        _join(found, begins, lasts)
    return found


SYNONYMS = _synonyms()
BEGINNINGS = _beginnings()
"""For a word of change those of the state that it begins."""
WIDER = _wider()
"""For a word those that say less than it says."""
WIDE = frozenset(word for wide in WIDER.values() for word in wide)
RIVALS = _rivals()
"""For a word the others of its groups."""
OPPOSED = _opposites()
DESCRIBING = frozenset(word for line in describing_groups() for word in _stems(line))
BEINGS = frozenset(
    word for word, wide in WIDER.items() if wide & {"person", "human", "animal", "adult"}
) | frozenset({"person", "animal", "peopl"})
"""Persons and animals: as the subject of a sentence another one is somebody else."""
PHRASES = {
    tuple(word.split("_", 1)): word
    for table in (SYNONYMS, WIDER, RIVALS)
    for word in table
    if "_" in word
}
"""Two stems that are one word."""
PHRASE_ENDS = frozenset(second for _, second in PHRASES)


_DESCRIBES = ("ful", "ous", "ive", "al", "ic", "able", "ible", "less", "ish", "ly", "ed")


def describes(word: str, key: str) -> bool:
    """Whether a word (and its stem) is one that says what the next one is like."""
    antonym = key in OPPOSED and not word.endswith(("er", "or"))
    return antonym or key in DESCRIBING or word.endswith(_DESCRIBES)


def opposed(one: str, other: str) -> bool:
    """Whether two stems are antonyms: listed, or with a prefix that negates."""
    if other in OPPOSED.get(one, ()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return (
        len(shorter) > _MANY - 2
        and longer.endswith(shorter)
        and longer[: -len(shorter)] in _NEGATING
    )
