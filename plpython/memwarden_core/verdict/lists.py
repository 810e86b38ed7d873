"""English words of one meaning, or of which one says more, a line each, for the judge.

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
