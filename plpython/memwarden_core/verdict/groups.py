"""Groups of English words of which one is not another: countries, colours, instruments, trades.

Each line is a kind, the words that name it, and its members. ``a_b`` is two words. General
categories of the language, so that a word replaced by its sibling is seen to say something else.
"""

from __future__ import annotations

# The members stand before what they describe: a red hat and a blue coat do not disagree.
_DESCRIBING = """
colour color|red orange yellow green blue purple pink brown black white grey gray silver golden
+ violet beige turquoise maroon navy teal magenta tan indigo crimson scarlet lavender
ordinal|first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
+ thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
|single double triple quadruple
|primary secondary tertiary
|solid liquid gaseous
|monthly weekly daily hourly yearly annual quarterly biweekly nightly
|round square triangular rectangular oval hexagonal cylindrical spherical
|striped plaid spotted plain checkered floral
|wooden metal metallic plastic glass leather woollen wool cotton silk steel iron copper bronze
+ brass aluminium aluminum concrete ceramic porcelain marble granite cardboard rubber velvet denim
+ linen nylon polyester bamboo clay stone brick paper gold silver stainless
|freshman sophomore junior senior
|vegan carnivorous
|cloudy sunny rainy snowy foggy windy stormy
|solo duet trio quartet quintet
|democratic republican
|catholic protestant orthodox
|american canadian mexican brazilian argentinian argentine chilean peruvian colombian cuban british
+ english scottish welsh irish french german italian spanish portuguese dutch belgian swiss
+ austrian swedish norwegian danish finnish icelandic polish czech slovak hungarian romanian
+ bulgarian greek turkish russian ukrainian serbian croatian albanian estonian latvian lithuanian
+ israeli egyptian moroccan tunisian algerian nigerian kenyan ethiopian ghanaian south_african
+ indian pakistani bangladeshi nepalese chinese japanese korean vietnamese thai indonesian
+ malaysian filipino mongolian iranian iraqi syrian lebanese saudi jordanian australian
+ arabic hebrew hindi urdu bengali mandarin cantonese swahili latin persian tamil catalan basque
"""

_NAMING = """
country nation|america usa canada mexico brazil argentina chile peru colombia venezuela ecuador
+ bolivia uruguay paraguay cuba jamaica haiti panama guatemala honduras nicaragua england scotland
+ wales ireland britain france germany italy spain portugal netherlands holland belgium switzerland
+ austria sweden norway denmark finland iceland poland czechia slovakia hungary romania bulgaria
+ greece turkey russia ukraine belarus serbia croatia slovenia bosnia albania estonia latvia
+ lithuania israel egypt morocco tunisia algeria libya nigeria kenya ethiopia ghana senegal
+ tanzania uganda rwanda sudan somalia angola mozambique zimbabwe zambia south_africa india
+ pakistan bangladesh nepal china japan korea north_korea south_korea vietnam thailand indonesia
+ malaysia singapore philippines mongolia iran iraq syria lebanon jordan saudi_arabia afghanistan
+ kazakhstan cambodia laos myanmar taiwan australia new_zealand united_states united_kingdom
+ sri_lanka costa_rica el_salvador puerto_rico luxembourg malta cyprus
continent|africa antarctica asia europe australia north_america south_america oceania
city town|london paris berlin madrid rome lisbon vienna brussels amsterdam dublin edinburgh
+ glasgow manchester liverpool birmingham bristol munich hamburg frankfurt cologne milan naples
+ turin venice florence barcelona seville valencia porto zurich geneva prague warsaw budapest
+ bucharest sofia athens istanbul ankara moscow kyiv stockholm oslo copenhagen helsinki cairo
+ lagos nairobi johannesburg casablanca tokyo osaka kyoto beijing shanghai seoul bangkok hanoi
+ jakarta manila singapore mumbai delhi bangalore karachi dubai tehran baghdad jerusalem sydney
+ melbourne brisbane perth auckland toronto montreal vancouver ottawa boston chicago houston
+ dallas austin seattle denver miami atlanta philadelphia phoenix detroit portland new_york
+ san_francisco san_diego los_angeles las_vegas mexico_city sao_paulo buenos_aires santiago lima
+ bogota havana rio_de
state|california texas florida ohio michigan oregon nevada arizona colorado georgia alaska hawaii
+ virginia illinois kansas utah montana alabama louisiana minnesota wisconsin iowa tennessee
+ kentucky massachusetts maryland delaware maine vermont
planet|mercury venus earth mars jupiter saturn uranus neptune pluto
month|january february march april may june july august september october november december
weekday|monday tuesday wednesday thursday friday saturday sunday
season|spring summer autumn winter
|morning afternoon evening night midnight noon dawn dusk
|today yesterday tomorrow
meal|breakfast lunch dinner supper brunch
|doctor nurse teacher lawyer engineer cook carpenter plumber electrician farmer pilot dentist
+ architect accountant actor actress singer painter writer journalist photographer musician
+ scientist soldier sailor policeman firefighter waiter waitress bartender barber hairdresser baker
+ butcher mechanic librarian secretary judge surgeon pharmacist veterinarian programmer developer
+ designer manager banker priest student professor politician fisherman gardener tailor janitor
+ cashier chemist physicist biologist botanist economist psychologist sculptor violinist pianist
+ guitarist drummer dancer magician clown jockey referee goalkeeper astronaut postman
music genre|jazz rock blues classical pop reggae techno opera folk metal punk soul disco
place|beach mountain forest desert river lake ocean city village park street swamp jungle
relative|mother father sister brother son daughter uncle aunt cousin grandmother grandfather nephew
+ niece husband wife
|hand foot head arm leg nose ear eye mouth knee elbow shoulder finger toe neck
metal|gold silver copper iron lead tin zinc nickel platinum titanium aluminium
shape|circle square triangle rectangle oval pentagon hexagon cube sphere cylinder
container|bottle cup glass bowl jar can bucket basket box bag barrel
|fork spoon knife chopstick
|rain snow sun fog hail wind storm
|christmas easter thanksgiving halloween hanukkah ramadan
religion|christianity islam judaism buddhism hinduism sikhism
|christian muslim jewish buddhist hindu atheist sikh
currency|dollar euro pound yen franc rupee peso ruble yuan krona
|kindergarten elementary university
degree|bachelor master doctorate phd
|novel poem essay biography memoir cookbook
|novelist poet playwright screenwriter
|single married divorced widowed
|bishop knight pawn rook
cloud|aws azure gcp heroku
browser|chrome firefox safari edge opera
queue|kafka rabbitmq nats sqs
|postgresql mysql mariadb sqlite oracle mongodb redis cassandra dynamodb elasticsearch
|python java javascript typescript rust ruby php golang kotlin scala swift perl haskell
framework|react angular vue svelte django flask rails laravel
editor|vim emacs vscode sublime
|json yaml xml csv toml parquet
protocol|http https ftp ssh smtp grpc websocket
|email phone post fax sms letter
|android ios
|dark light
|low medium high critical
|todo blocked done
|wood glass metal plastic stone concrete paper brick steel iron copper marble rubber leather ceramic
|free basic starter pro professional premium enterprise
|staging production testing sandbox
|approved rejected pending
|active suspended cancelled expired
|draft published archived
|success failure
|beginner intermediate advanced
|undergraduate graduate postgraduate
|bachelor married divorced widowed engaged
|left right
|north south east west
|northern southern eastern western
|upstairs downstairs
|teenager adult senior
|sweet sour bitter salty spicy
|hot warm cold
|happy sad angry afraid bored
|cotton wool silk linen leather denim
|blond brunette redhead
|electric acoustic
|grilled fried boiled baked steamed roasted raw
|fiction poetry drama
|soprano alto tenor baritone
|paperback hardcover
|credit debit
|visa mastercard
|windows linux macos
|monolith microservices
|public private
"""

_KINDS = """
person human someone somebody anybody individual|man woman boy girl child kid lady guy baby
+ teenager player worker adult doctor nurse teacher lawyer engineer cook farmer pilot singer
+ painter writer musician soldier policeman student dancer toddler infant grandmother grandfather
+ cyclist surfer skateboarder biker runner swimmer
man|policeman gentleman
adult|man woman
child kid|boy girl toddler baby infant
child|son daughter
parent|mother father
sibling|brother sister
pet|dog cat hamster parrot
animal|puppy kitten poodle calf lamb
dog|puppy hound poodle terrier labrador beagle bulldog dachshund retriever collie chihuahua husky
cat|kitten
horse|pony foal
water|ocean sea lake river
car|taxi limousine sedan
aircraft|plane helicopter glider
boat|ferry canoe kayak yacht ship
bicycle bike|tandem
hat|helmet cap
red|crimson scarlet maroon
blue|navy turquoise teal indigo
purple|lavender violet
america|usa united_states
britain|england scotland wales
united_kingdom|england scotland wales
british|english scottish welsh
chinese|mandarin cantonese
korea|north_korea south_korea
author writer|novelist poet playwright screenwriter journalist
scientist|chemist physicist biologist botanist astronomer
musician|violinist pianist guitarist drummer singer
doctor|surgeon
artist|painter sculptor
street road|avenue
building|house
footwear|shoe boot sandal
move|run walk
metal|steel iron copper
walk|stroll march
"""


def _lines(text: str) -> list[str]:
    return text.strip().replace("\n+ ", " ").split("\n")


def kinds_of_words() -> list[tuple[str, str]]:
    """(the words that name a kind, words that say it and more), each as they are written."""
    parted = (line.split("|") for line in _lines(_DESCRIBING) + _lines(_NAMING) + _lines(_KINDS))
    return [(wide, narrow) for wide, narrow in parted if wide]


def describing_groups() -> list[str]:
    """Groups whose members say what the next word is like."""
    return [line.split("|")[1] for line in _lines(_DESCRIBING)]


def naming_groups() -> list[str]:
    """Groups whose members name things."""
    return [line.split("|")[1] for line in _lines(_NAMING)]
