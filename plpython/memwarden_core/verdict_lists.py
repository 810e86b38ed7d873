"""English words of one meaning and of opposite meaning, a line each, for the judge of two memories.

Words with other senses that part them are left out: a wrong pair merges what differs.
"""

from __future__ import annotations

# Beside those of the judge of evidence.
SYNONYMS = """
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

OPPOSITES = """
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
MORE_THAN = """
some several few|all every each most many
sometimes|always often
"""
# Who does the first from now on no longer does the second with something else.
BEGINNINGS = """
move relocate|live reside based
switch migrate change|use run work
join|work employed
become|work serve
rename|call named
"""
