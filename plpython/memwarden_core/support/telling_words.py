"""Words as the gist of a claim is weighed: how telling they are, and which say much the same.

The judge of two memories does not read this: there a loose synonym would merge what differs. Here
it tells no more than that two texts speak of one thing. General categories of English, a line each.
"""

from __future__ import annotations

from ..language.lexicon import NARROWER, SAME
from ..language.units import MONTHS
from ..language.words import stem, word_set

# What a note says about the saying, or about an attitude; and when.
_FAINT = word_set(
    """
    said say says saying told tell tells mention mentioned mentions express expressed expresses
    expressing explain explained explains describe described describes state stated states note
    noted notes report reported reports share shared shares sharing discuss discussed talk talked
    talking ask asked asks suggest suggested suggests emphasize emphasized emphasizes highlight
    highlighted highlights reveal revealed reveals indicate indicated acknowledge acknowledged
    acknowledges consider considered considers considering think thinks believe believed believes
    believing feel feels feeling felt find finds finding found see sees seeing view views viewed
    know knows knowing want wants wanted wanting wish wishes hope hopes hoping plan plans planned
    planning intend intends aim aims aimed decide decided decides try tries tried trying like likes
    liked love loves loved enjoy enjoys enjoyed value values valued appreciate appreciates
    appreciated seem seems seemed look looks looking remain remains keep keeps continue continues
    start started starts begin began begins become became becomes get gets got getting go goes going
    went gone come came make makes made making take takes took taking give gives gave given giving
    use uses used using used need needs needed let lets put show shows showed involve involved
    involves include includes included including allow allows allowed help helps helped helping
    happen happened able currently recently lately today yesterday tomorrow tonight now then still
    already soon again always often usually sometimes ever once since ago last next past previous
    recent upcoming current during before after while later early later week weekend month year day
    morning evening night afternoon monday tuesday wednesday thursday friday saturday sunday
    certain various different specific particular significant overall especially particularly
    according currently conversation per regarding towards toward through throughout about around
    """
)
# Said of nearly everything.
_COMMON = word_set(
    """
    good great nice amazing awesome wonderful fantastic special important meaningful new old big
    little small long short many much more most some any all every each other another same own few
    lot lots several really very just even too well back away out up down over off only both such
    thing things something anything everything way ways time times life people person someone
    everyone others stuff kind sort part place world experience experiences moment moments memory
    memories fun happy excited exciting glad proud grateful thankful thanks thank hard tough best
    better first second work works worked working job live lives lived living meet met bring brings
    brought sense feeling support supports supported supporting supportive together friend friends
    family right sure course yes yeah hey hi hello wow cool maybe actually name one two how why when
    where not because if can could would should may might must been having doing going able like
    point reason idea chance difference home house being getting having want need care hear heard
    call called turn turned ready set hold held chat talk check goal goals dream dreams success
    journey step steps
    """
)
_MUTE = word_set(
    """
    myself yourself himself herself itself ourselves themselves oneself over out up down off away
    im ive id ill youre youve youll youd hes shes hed shed weve wed well theyre theyve theyd thats
    theres heres whats lets its gonna wanna gotta yeah yep yup oh ah haha lol
    """
)
_MUTE_WEIGHT, _FAINT_WEIGHT, _COMMON_WEIGHT = 0.0, 0.2, 0.45

# What people do with words: who writes it down names it, who does it says something else.
_ACTS = """
thanks,thank you,grateful,means a lot,means so much,appreciate,glad i have you,
+ having my back > appreciate grateful thank gratitude value
you got this,you can do,keep going,keep it up,keep pushing,keep up,give up,don't quit,
+ hang in there,go for it,good luck,you'll,believe in you,way to go,proud of you,rooting for,
+ stay strong,cheering,got your back,
+ you've got > encourage support motivate inspire believe assure reassure cheer confident luck
great job,good job,well done,congrats,congratulations,way to go,proud of you,impressive,amazing,
+ awesome,incredible,inspiring,you're so,
+ you're such > praise compliment congratulate admire impress commend proud
let me know,anything i can,happy to help,here for you,here to,count me in,lend a,your back,
+ i'll help,can i help,if you need,glad to help > offer help support assist willing
sorry to hear,must have been,must be tough,must be hard,so sad,
+ condolences > sympathize empathize understand concern condolence comfort
you should,why not,have you tried,have you considered,how about,remember to,make sure,
+ don't forget,maybe you,could try > suggest advise advice recommend remind
? > ask curious inquire wonder interest
let's,wanna,gonna,i'll,going to,i'm off to,can't wait,
+ looking forward > plan intend propose eager excite
"""

# Words of one line say much the same, though not of every thing.
_ALIKE = """
live move relocate settle reside dwell stay based home
job work career profession employ occupation business company biz
education edu school
wed wedding marry marriage bride groom anniversary engage
glad happy joy joyful pleased delighted cheerful thrilled happiness stoked pumped
excited eager thrilled enthusiastic pumped stoked hyped psyched anticipate
grateful thankful appreciate thank gratitude blessed thanks
proud pride
sad upset heartbroken grief devastated mourn sorrow
afraid scared fear nervous anxious worry anxiety
angry mad furious annoyed frustrate
tired exhausted weary drained
calm peace peaceful relax serene serenity soothe unwind tranquil chill de-stress
stress stressful pressure overwhelm hectic
hard tough difficult challenge struggle hardship obstacle hurdle setback
easy simple effortless
important essential vital crucial key matter matters significant mean
special precious meaningful unique treasure cherish
beautiful pretty gorgeous lovely stunning beauty
delicious tasty yummy
amazing awesome incredible wonderful fantastic great impress impressive magnificent
encourage motivate inspire cheer uplift support encouraging motivation inspiration root
praise compliment congratulate congrats commend admire applaud impress proud
advise advice tip suggest recommend guidance guide mentor
help assist aid support volunteer
belief believe faith trust confidence confident
goal dream aim ambition aspiration aspire target
persist persevere determined determination resilience resilient persistence dedicate dedicated
+ dedication commit committed commitment hardworking drive
succeed success successful achieve achievement accomplish accomplishment triumph
improve progress grow growth better develop enhance advance
change transform transition transformation
start begin launch open found establish kick
end finish complete wrap conclude
buy purchase get acquire
make create build craft design produce
learn study class course lesson school education educate teach university college
teach coach instruct tutor train lesson class
read book novel story author
write author poem essay blog journal
paint painting draw drawing art artwork artist sketch canvas
picture photo photograph image snapshot pic shot photography
dance dancer dancing choreography
camp camping tent campfire
cook bake recipe meal dish food
money fund fundraise donate donation charity finance financial
shop store boutique
customer client shopper buyer
advertise ad campaign market marketing promote promotion
ill sick disease illness unwell
death die passed loss lose
hurt injure injury wound
old elderly aged
meet encounter gather gathering meetup reunion
speak talk chat conversation discuss tell speech
share tell show
join enrol enroll join sign member
belong community group club team
win award prize trophy medal
lose lost
like love enjoy adore fond passion passionate fan favourite favorite into
favourite favorite prefer preference top pick fave fav
hope wish want desire eager
plan intend prepare schedule organise organize arrange
remember memory recall remind reminder nostalgic reminisce
think consider reflect ponder
understand know realise realize aware awareness
find discover come locate
adopt adoption
vote politics political election campaign office policy
law legal right lawyer
fight protest march advocate advocacy activism
equal equality inclusive inclusion diverse diversity
accept acceptance embrace welcome
safe safety secure
express expression show convey
creative creativity create
connect connection bond bonding relationship close together
kind kindness compassion compassionate caring generous empathy
strong strength courage brave
free freedom liberating liberate
positive positivity optimistic optimism upbeat
important value prioritize priority matter
email e-mail mail
birthday born birth
early soon
recent lately new latest
repair fix mend restore
film movie cinema show series
neighbour neighbor neighbourhood neighborhood
country nation homeland
town city village
study studio
offer give provide
reach contact touch
handle cope manage deal
quit resign leave
big huge large massive
busy swamped hectic
expect anticipate await
attend go join visit
"""

# What a wide word may stand for. One of the narrow words does not stand for another.
_WIDE = """
child kid kids|son daughter toddler youngest oldest baby
parent|mother father mum mom mommy dad daddy folks
family relative|husband wife spouse partner kid child son daughter sister brother cousin mother
+ father mum mom dad grandma grandmother grandpa grandfather fam
friend|buddy pal mate companion bestie
music|song band concert sing singer tune album gig guitar piano violin
drink beverage|tea coffee water juice beer wine
pet animal|dog cat puppy pup kitten pooch hamster rabbit
home place|house apartment flat condo
food meal|dinner lunch breakfast pizza cake soup salad dish
eat dine|dinner lunch breakfast meal food
vehicle|car truck van motorcycle bike
exercise fitness workout|gym yoga run jog swim weights train training cardio
hike walk|hiking trail stroll
travel trip vacation|journey holiday tour getaway visit
nature outdoors|forest wood mountain landscape scenery beach lake river ocean sea park hike camp
health medical|hospital doctor clinic nurse illness
religion faith|church god pray prayer spiritual
military|army veteran soldier navy
garden plant|flower bloom rose tulip
event|gig fair festival parade ceremony concert show conference workshop fundraiser
phone|mobile cell telephone cellphone number
sport game|football soccer basketball tennis baseball match tournament
clothes clothing|outfit dress shirt jacket wear fashion apparel
childhood|child kid young
race|marathon run
art artwork|painting paint drawing draw sculpture pottery sketch canvas
"""

DENIALS = frozenset(
    stem(word)
    for word in word_set(
        """
        false untrue incorrect myth lie lied pretend pretends fake reject rejects rejected oppose
        opposes opposed dislike dislikes hate hates avoid avoids ignore ignores quit refuse abandon
        """
    )
)
"""Words of a claim that turn it into its contrary, and that the excerpt must have then."""

NOW = frozenset(
    stem(word)
    for word in word_set("recently lately currently now already still today yesterday then soon")
)
TIMES = word_set("monday tuesday wednesday thursday friday saturday sunday") | MONTHS
THIRD_PERSON = word_set("he she him her hers his they them their")
SECOND_PERSON = word_set("you your yours you're you've you'll u ur")
SPEAKERS = frozenset(map(stem, word_set("user customer client speaker person human caller member")))
"""Who speaks to an agent, by another word than a name."""
GENERIC = word_set(
    """
    chat conversation conv session thread room channel log message msg turn user users item doc
    page call calls note notes meeting transcript dialog dialogue email mail sms slack teams
    """
)
"""What stands in a uri, and is nobody's name."""


def _weights() -> dict[str, float]:
    common = {stem(word): _COMMON_WEIGHT for word in _COMMON}
    common |= {stem(word): _FAINT_WEIGHT for word in _FAINT}
    return common | {stem(word): _MUTE_WEIGHT for word in _MUTE}


def _acts() -> list[tuple[tuple[str, ...], frozenset[str]]]:
    found = []
    for line in _ACTS.strip().replace("\n+ ", "").split("\n"):
        cues, _, acts = line.partition(" > ")
        found.append((tuple(cues.split(",")), frozenset(map(stem, acts.split()))))
    return found


def _alike() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _ALIKE.replace("\n+ ", " ").split("\n"):
        group = frozenset(stem(word) for word in line.split())
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    for line in _WIDE.replace("\n+ ", " ").split("\n"):
        wide, _, narrow = (frozenset(map(stem, side.split())) for side in line.partition("|"))
        for word in wide:
            found[word] = found.get(word, frozenset()) | wide | narrow
    return found


KEPT = globals().get("KEPT") or (_weights(), _acts(), _alike())
"""What takes longest to work out: the server keeps it beside the code."""
WEIGHTS, ACTS, ALIKE = KEPT
# ACTS: turns of speech, and the stems of what is done with them.


def says(word: str) -> frozenset[str]:
    """The stems that say what a stem says, exactly or more narrowly."""
    return SAME.get(word, frozenset()) | NARROWER.get(word, frozenset())
