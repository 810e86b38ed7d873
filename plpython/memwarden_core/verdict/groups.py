"""Groups of English words of which one is not another: colours, nationalities, trades, products.

Each line is a kind, the words that name it, and its members. ``a_b`` is two words. General
categories of the language, so that a word replaced by its sibling is seen to say something else.
What a dictionary has as kinds of one thing stands in none: it is asked for that (`lexicon`).
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
month|january february march april may june july august september october november december
weekday|monday tuesday wednesday thursday friday saturday sunday
|morning afternoon evening night midnight noon dawn dusk
|today yesterday tomorrow
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
shape|circle square triangle rectangle oval pentagon hexagon cube sphere cylinder
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
|free basic starter pro professional premium enterprise
|staging production testing sandbox
|approved rejected pending
|active suspended cancelled expired
|draft published archived
|beginner intermediate advanced
|undergraduate graduate postgraduate
|bachelor married divorced widowed engaged
|north south east west
|northern southern eastern western
|teenager adult senior
|sweet sour bitter salty spicy
|hot warm cold
|happy sad angry afraid bored
|blond brunette redhead
|electric acoustic
|grilled fried boiled baked steamed roasted raw
|fiction poetry drama
|visa mastercard
|windows linux macos
|monolith microservices
"""

_KINDS = """
person human someone somebody anybody individual|man woman boy girl child kid lady guy baby
+ teenager player worker adult doctor nurse teacher lawyer engineer cook farmer pilot singer
+ painter writer musician soldier policeman student dancer toddler infant grandmother grandfather
+ cyclist surfer skateboarder biker runner swimmer
man|policeman gentleman
child kid|boy girl toddler baby infant
child|son daughter
sibling|brother sister
pet|dog cat hamster parrot
dog|puppy hound poodle terrier labrador beagle bulldog dachshund retriever collie chihuahua husky
cat|kitten
horse|pony foal
boat|ferry canoe kayak yacht ship
hat|helmet cap
blue|navy turquoise teal indigo
british|english scottish welsh
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
