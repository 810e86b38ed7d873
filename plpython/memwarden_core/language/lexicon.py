"""Words that say the same, more, or the opposite, as far as the judge of evidence knows them."""

from __future__ import annotations

from .words import stem

_OPPOSITES = """
enabled,on,true,activated,active,yes,enable,activate|disabled,off,false,deactivated,inactive,no,disable,deactivate
increase,rise,grow,raise,up,higher,increased,rose,grew,raised|decrease,fall,shrink,lower,down,decreased,fell,drop,reduce,dropped
open,opened|closed,close,shut
allow,permit,allowed,permitted|deny,forbid,prohibit,block,denied,forbidden,prohibited,blocked,refuse
like,love,enjoy,adore,prefer|dislike,hate,detest,avoid
before,earlier,prior|after,later,following
more,over,above,exceeds,greater,most|less,under,below,fewer,least
maximum,max,most,upper|minimum,min,least,lower
first|last
start,begin,started,began,begun|stop,end,finish,ended,finished
success,succeed,successful,succeeded,pass,passed|failure,fail,failed,unsuccessful
accept,accepted,approve,approved|reject,rejected,decline,declined
public|private
required,mandatory,must|optional
inside,in,indoors|outside,outdoors
early|late
left|right
north,northern|south,southern
east,eastern|west,western
hot,warm|cold,cool
big,large,huge|small,little,tiny
long|short
tall|short
fast,quick,quickly|slow,slowly
old|new,young
young|old
man,men|woman,women
boy,boys|girl,girls
male|female
mother|father
husband|wife
brother|sister
empty|full
buy,bought|sell,sold
win,won|lose,lost
gain|loss
ascending|descending
import|export
encrypted|plaintext,unencrypted
alive|dead,died
same,identical|different
always|sometimes,never,rarely
all,every,each|some,few,none,no,several
asleep,sleeping|awake
sit,sitting|stand,standing
wet|dry
clean|dirty
happy|sad
near,close|far
top|bottom
front|back
arrive,arrived|leave,left,depart,departed
remember|forget
push|pull
add,added|remove,removed,delete,deleted
sync,synchronous|async,asynchronous
internal|external
horizontal|vertical
guilty|innocent
deprecated|supported
married|divorced,single,unmarried
strict|lenient
safe|dangerous,unsafe
correct,right,true|wrong,incorrect,false
"""

# One of a group is not another: the yellow line is not the red one.
_GROUPS = """
red orange yellow green blue purple pink brown black white grey gray violet
monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
spring summer autumn winter
morning afternoon evening night midnight noon
breakfast lunch dinner
tea coffee water wine beer juice milk lemonade matcha
dog cat horse bird cow sheep fish rabbit
guitar piano violin drum flute trumpet cello keyboard
football basketball tennis baseball volleyball rugby hockey golf
debug info warning warn error fatal trace
development staging production
postgresql mysql mariadb sqlite oracle mongodb redis
python java javascript typescript rust ruby php
linux windows macos
get post put patch delete
daily weekly monthly yearly hourly
hourly nightly
car bus train plane bicycle boat truck motorcycle
doctor nurse teacher lawyer engineer cook
"""

_SAME = """
kid child children kids
db database
config configuration setting
app application
repo repository
info information
auth authentication
prod production
dev development
admin administrator
param parameter
limit maximum
buy purchase bought purchased
begin start commence began begun started
end finish terminate ended finished
large big huge
quick fast rapid
small little tiny
happy joyful glad pleased delighted cheerful
road street
lady woman
man guy
close near
slice cut chop
mix stir
jump leap
speak talk
watch observe
look watch
run jog
big enormous giant
beautiful pretty
stone rock
shop store
sofa couch
boat ship
baby infant
picture photo photograph image
couch sofa
ocean sea
trousers pants
make create produce
answer reply respond
choose select pick
need require
help assist
contain hold include
send transmit
expire lapse
permit allow
verify check
endpoint url
timeout deadline
reside live dwell
job profession occupation
phone telephone
fix repair fixed repaired
client customer
error failure
show display
delete remove deleted removed
get obtain receive got received
happen occur occurred
employ work
favourite favorite
colour color
prefer favour favor preferred
vehicle automobile car
physician doctor
film movie
mum mom mother
dad father
holiday vacation
flat apartment
autumn fall
"""

# Who says the first says the second too, not the other way round.
_KINDS = """
man woman boy girl child kid lady guy baby teenager player worker|person human someone somebody
dog cat horse bird cow monkey fish|animal
guitar piano violin drum flute trumpet|instrument
car bus truck motorcycle train|vehicle
tea coffee water wine beer juice milk|drink beverage
rose tulip daisy|flower
carrot potato onion|vegetable
apple banana orange|fruit
bread meat egg rice|food
"""


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.replace(",", " ").split())


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _OPPOSITES.split("\n"):
        if not line:
            continue
        one, other = (_stems(side) for side in line.split("|"))
        for here, there in ((one, other), (other, one)):
            for word in here:
                found[word] = found.get(word, frozenset()) | (there - here)
    return found


def _sets(lines: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in lines.split("\n"):
        group = _stems(line)
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return found


def _kinds() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _KINDS.split("\n"):
        if line:
            narrow, wide = (_stems(side) for side in line.split("|"))
            for word in wide:
                found[word] = narrow | wide
    return found


KEPT = globals().get("KEPT") or (_opposites(), _sets(_GROUPS), _sets(_SAME), _kinds())
"""What takes longest to work out: the server keeps it beside the code."""
OPPOSITES, SIBLINGS, SAME, NARROWER = KEPT
# NARROWER: for a word the words that say it, and more.

_PREFIXES = ("un", "non", "dis", "in", "im", "de", "mis")


def contrary(word: str) -> frozenset[str]:
    """The stems that say the opposite of a stem: listed ones, and with a prefix that negates."""
    found = OPPOSITES.get(word, frozenset())
    longer = {prefix + word for prefix in _PREFIXES if len(word) > 3}
    shorter = {
        word[len(prefix) :]
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) - len(prefix) > 3
    }
    return found | longer | shorter
