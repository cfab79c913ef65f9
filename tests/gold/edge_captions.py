"""Captions that reach every rule and every word list, and hostile text. The demo's captions are too ordinary for that.

``groups()`` returns images, each with a candidate and references. ``token_lines()`` are lines for the tokenizer alone.
``raw_pairs()`` and ``word_pairs()`` are for METEOR. All captions were written for this project. The word lists repeat
those of the code and add near misses. A word that goes missing in the code is still here, and a test of the gold fails.
"""

from __future__ import annotations

import itertools

# Blocks of captions: the candidate, then its references. Lines that begin with ## name the topic of a block.
_WRITTEN = """
## contractions and words that fall apart
I'm gonna show you a dog that cannot swim.
The dog can't swim, so it's lying on the sand.
Lemme tell ya: that dog ain't swimming!
gimme that ball, says the dog; he wanna play

They've gotta wash the muddy bikes
The boys' bikes aren't clean; they'd better wash 'em.
Two muddy bikes that weren't washed, y'all
'Tis a pity: 'twas a clean bike once

The woman's hat won't stay on in the wind
A woman whose hat doesn't stay on
She'll lose her hat, wouldn't she?
the womans hat blown by wind, rock 'n' roll style

A sign says DON'T WALK but the man's walking
there's a sign that isn't lit and a man who shouldn't walk
We're looking at a crosswalk signal someone'd broken
let's not walk against the light, c'mon

## abbreviations, initials, addresses
Mr. Smith and Dr. Jones wave at St. Mark's Square.
Prof. Jones stands next to Mrs. Smith on 5th Ave. in the U.S.
Two people, e.g. Mr. and Mrs. Smith, at approx. 3 p.m.
The couple visits Washington D.C. They wave.

A truck of Miller Bros. Inc. on Main St. near the dept. store
A truck with the words "Miller Bros. Co." parked on the blvd.
The no. 7 truck (fig. 3) of a U.K. company vs. a U.S. company
truck, etc. parked on the street. It is blue.

A jet of the U.S. Air Force over Mt. Rainier in Jan. 1999
The U.S. The jet flies over the mountain.
A U.S. jet flying past a snowy mt. at 10 a.m.
an air force jet, model no. 5, above a mountain

a page from www.example.com showing a cat
See http://example.org/cats?page=2 for the cat!
mail cat@example.com about the #cat by @someone
a screenshot of cats.html with a cat on it

## numbers
Train No. 4,502 departs at 12:45 on 3/14/2015 for $9.99
A train with the number 4502 leaves at 12:45 pm.
1/2 of a train at platform 9, 100% blue
train number 4502 costs 9.99 dollars in '99

a 20-year-old man with 2.5 lbs of 1990's apples
A 20 year old holds two and a half pounds of apples
the man, age 20, has .5kg of apples, a 1st prize
call 555-1234 for +3 apples

3 zebras, 12 giraffes and 1 elephant drink
three zebras and twelve giraffes with one elephant
There are 3 zebras drinking with 12 giraffes.
a dozen giraffes, a few zebras & an elephant

## brackets, quotes, dashes, smileys
A "quoted" sign (in brackets) [or square ones] {or curly}
a sign that reads "STOP -- NOW!" in the rain
A sign saying ``stop'' (it is red).
'Stop' is written on the “red” sign – it’s old…

The black-and-white, well-lit kitchen -- very up-to-date!
a black and white kitchen that is well lit & modern
kitchen: counter-top, stove_top, and/or sink; very clean...
A (very) clean kitchen w/ a stove top :-)

a dog 🐕 running on the beach 😀 <3
A dog :) runs along the béach naïvely at the café
<b>A dog</b> running &amp; jumping &lt;on&gt; sand
dog*** running ~fast~ #dog @beach ^_^

¿Un perro? No: a dog! ¡Sí!
a dog ... a happy dog . . . on grass!!!
A dog???!!! it's a dog;it's a good,good dog
Dog. Dog. Dog. A dog in the park.

## prepositions of several words
A cat is sitting on top of a car in front of a house
A cat on top of the car next to the house
there is a cat in front of a home close to a vehicle
the cat sleeps atop a car across from a house

Books on top of each other next to a lamp on a desk.
A stack of books beside a lamp
A lamp close to a pile of books on top of a table
Three books lying next to a lamp out of reach

A man stands in between two buses away from the crowd
A man is next to a bus
the man in front of the buses along with his dog
A man together with a dog outside of a bus

a plane flies in and around the clouds
a plane flying over and under a bridge
The plane is out of the clouds and far from the ground
A plane with a banner and with red wings

A child on the back of a horse because of the parade
A child rides on a horse instead of a pony
according to the sign the child is near to the horse
the child with respect to the horse is small

A vase filled with flowers in place of a bowl in addition to fruit
a vase on behalf of the owner in spite of the cat
flowers in lieu of fruit on account of the season
fruit as well as flowers in a vase thanks to a friend

## quantifiers
A couple of men and a lot of dogs on a pair of benches
lots of dogs with several of the men
Two of the men hold some of the dogs
many of them sit on a bench with a bunch of keys

A group of people with a number of kites
Dozens of kites above hundreds of people
a variety of kites flown by all of the people
both of them watch one of the kites

a slice of pizza and a glass of wine on a kind of table
A piece of pizza with a bit of basil
a ton of pizza and plenty of wine
some of the pizza is gone, neither of them eats

Tons of snow on a mountain of rocks with a string of lights
a string of lights hangs from thousands of trees
a series of rocks and a range of mountains
an array of lights on a heap of snow

A dozen of eggs in a sort of basket
12 of the eggs are brown
100s of eggs in a total of three baskets
a dozen eggs and six of them are white

with lots of donuts on a plate
a plate with a lot of donuts
donuts, lots of them, on a plate
an assortment of donuts on a plate with a handful of nuts

## plurals with numbers
Two dogs chase three cats past four trees
two dogs and three cats near four trees
Two big dogs are chasing 3 small cats
Four trees stand behind five animals

Six people hold seven umbrellas and eight bags
Six women carrying eight bags
seven umbrellas are held by six people
Nine umbrellas, ten bags and one person

two men give three boys four apples
Two men giving apples to three boys
three boys get four apples from a man
Four red apples given by two men

Two of three people have both hands up
both people raise two hands
three people with two raised hands
One person has one hand on two knees

## passives
A ball is being thrown by a boy to a dog.
The ball was thrown by the boy
a ball thrown by a young boy is caught by a dog
the boy threw a ball and the dog has caught it

A cake is cut by a bride and eaten by the guests
The cake was eaten by guests
A bride cuts a cake that was baked by her mother
cake being sliced by someone with a knife

The streets are lined with trees and filled with cars
Trees line a street which is filled by cars
a street lined with old trees and parked cars
cars are parked by the trees

A bus is painted red and driven by a woman
A red bus driven by a lady
a woman drives a bus painted in red
the bus was taken by a man and is being driven by him

## pronouns
A woman holds her umbrella over her head while she walks
She walks with her umbrella
the woman and her dog share it
A lady has an umbrella above herself

Two boys show their toys to their mother and they smile at her
They show her their toys
the boys give her the toys themselves
A mother looks at her boys and at their toys

The dog wags its tail as it looks at me with my shoe
I see a dog that has my shoe in its mouth
Its tail is up and it bites my shoe
A dog with your shoe looks at us

A man sees himself in a mirror and shaves his face
He shaves in front of his mirror
his face is in the mirror in front of him
a man shaving himself with one of his razors

It is a picture of a cat who licks itself
This is a cat. It licks its paw.
one who licks one's paw is a cat
the cat itself looks at you and yours

## conjunctions
A dog and a cat and a bird sit and sleep on a sofa
A dog sits and a cat sleeps on the couch
the dog, the cat or the bird is sleeping
either a dog or a cat but not a bird

A red and white bus with big and small windows
A bus that is red and white and old
a red bus and a white bus with windows
The bus has large, clean windows and doors

A man riding and a woman walking with a bag and with a hat
a man rides a horse and walks a dog
the man with the bag and the woman with the hat are walking and talking
A woman wears a hat and carries a bag

People walk in the rain and through the mud
people walking in rain and over mud
A man walks through mud and rain, wet but happy
rain and mud on the street and on the people

## particles, compounds, possession
A man picks up a coffee cup and puts down a tennis racket
A tennis player sets a racket down
a man holding up a coffee mug
coffee cup lid picked up by a tennis player

The man's dog's collar is on the kitchen table top
a dog collar of a man on a table
A man's dog with a red collar
the boys' dogs wear their collars

A police officer gets off of a motor bike at a bus stop sign
A policeman is getting off his motorcycle
bus stop sign with a cop and a bike
the officer is off the bike

A fire truck is parked at the fire station garage door
A fire engine in front of the station
the firetruck's parked at a garage
Fire trucks wait at a fire station

## relative clauses, copulas, existentials
There is a man who is wearing a hat that is too big
a man wearing a big hat
The man that wears the hat is tall
there are men whose hats are big

The cat is black, the dog is a puppy and the bird is in a cage
a black cat, a small dog and a caged bird
The bird is inside of a cage
A cat which is black is on the sofa

The food on the plate looks delicious and smells good
The plate is full of food
food that looks good on a white plate
Delicious looking food is on a plate

The clock is above the door and below the window
a clock over a door
the door is under a clock
A clock hangs between a window and a door

A boy trying to catch a ball to throw it
A boy tries to catch a ball
the boy wants to be catching balls
a boy about to throw a ball

## synonyms, colours, sizes
A large couch and a tiny sofa beside a huge settee
a big sofa with a small couch
The sofa is large and gray
a grey couch of enormous size

A woman on a bike next to a bicycle near an automobile
A lady riding a bicycle by a car
a person on a two wheeler near an auto
bicycles and cars and a woman

A dark blue car and a light green truck with a bright red light
a blue car, a green truck and a light
the light green vehicle is large
A vehicle that is dark and a light one

A tall thin man with a short fat dog and a long narrow road
a slim tall man and a little chubby dog
The man is tall and the road is long
a skinny guy walks a short dog on a wide street

## away, out, together, apart
A man walks out of a store and away from a crowd
people run out of a house together with their dogs
Birds fly away from a tree apart from one
aside from the man there are two women close by the store

Two dogs out of a group of dogs jump off of a boat
the boat is away from the dogs
A dog jumps out of the water onto a boat
one dog out of three is outside of the boat

A girl and I take a picture of me and my friend as I smile
My friend says that I look like one who smiles
a picture of the girl when I was with her
the girl looks at one of us and one is happy

## odd but real
frisbee frisbee frisbee on a a a field field
a frisbee on a field
field with frisbees
Frisbee!

ON THE TABLE IS A LAPTOP COMPUTER AND A MOUSE
A Laptop And A Mouse On The Table.
laptop mouse table
The MacBook and the iPhone are on it

umbrella
A umbrella
an open umbrella
umbrellas

man in blue with white dog running jumping near the
the man running and jumping with dog
blue man white dog
a man, in blue, with a white dog near the

the the the the a of of on
a thing on the thing of things
of the
on on on

a picture of a picture of a picture of a man
a picture of a man
a man in a picture in a frame
the man's picture's frame

sleeping happily quickly
someone sleeps happily
sleeps
running quickly and slowly

Standing on a beach, a surfer holding a board looks at waves.
A surfer with a board stands on the beach looking at the waves
surfer standing holding surfboard
waves watched by a standing surfer

A herd of sheep grazing on a lush green hillside field
sheep graze on a hill
A flock of sheep on the hillside
a herd of cattle on grass

Several geese and two mice ran from the wolves' dens
a goose and a mouse run from a wolf
geese running; mice fleeing wolves
two mice have run away from several geese

A kitchen with a stove, a refrigerator, a sink and a microwave oven
kitchen appliances including a fridge and stove
The kitchen has an oven
stove refrigerator sink microwave

The man on the left is taller than the man on the right
one man is taller than another
the taller man is on the left hand side
a tall man and a shorter man

A baby elephant follows its mother's trunk
a baby and mother elephant
the elephant calf is following the bigger elephant
An infant elephant with a grown elephant

A person dressed as a banana eats a banana split
someone in a banana costume eating ice cream
a banana is eating a banana
A man wearing a costume has a dessert

The giraffe that the zebra that the lion chased saw ran
A lion chased a zebra
a giraffe ran
lion chasing zebra seen by giraffe

What a lovely cake! Who made it? Nobody knows.
A lovely cake that nobody made
Everyone likes the cake
everyone of them eats cake

A man, a plan, a canal: Panama!
a man plans a canal
Man with plans in Panama
a canal

Children's toys are scattered all over the floor of the room
toys on the floor
The room's floor is covered in toys
a kid's room with toys all over it

Upside down umbrellas hanging up above an outdoor cafe
umbrellas hung upside-down over a cafe
an outside café under umbrellas
colorful umbrellas above tables outdoors

A snowboarder does a trick off of a ramp over a car
A snowboarder jumping off a ramp
a man doing snowboard tricks over cars
snow boarder in mid-air above a car

An airplane's wing seen out of a window
looking out the window at a plane's wing
a wing as seen from inside of an airplane
the view out of the window of a plane

He is standing there looking at something
someone looking at it
They look at something
it is something

A bear walking, not running, without any of its cubs
a bear not running
no cubs with the bear
The bear has none of her cubs

The 2 men, 3 women & 1 child (all wearing hats) wait/sit.
two men, three women and a child wearing hats
all of them wear hats
A man and/or woman with a child wait
"""

COLOURS = (
    "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white yellow "
    "golden silver teal turquoise magenta cyan tan navy colorful bright pale blond ivory lime"
)
SIZES = (
    "baby beefy big bony boundless brawny broad bulky chunky colossal compact corpulent cosmic curvy elfin emaciated "
    "endless enormous epic expansive extensive fat fleshy full-size gargantuan gaunt giant gigantic grand great heavy "
    "hefty huge illimitable immeasurable immense infinitesimal lanky large lean life-size limitless little mammoth "
    "massive meager measly microscopic mini miniature minuscule minute narrow obese oversize overweight paltry petite "
    "pint-size plump pocket-size portly pudgy puny rotund scanty scrawny short sizable skeletal skimpy skinny slender "
    "slim small squat stocky stout strapping sturdy tall teensy teeny teeny-tiny thick thickset thin tiny titanic "
    "towering trifling trim tubby undersized underweight unlimited vast wee whopping wide "
    "long deep shallow chubby medium oversized sizeable high low old"
)
NUMBERS = "one two three four five six seven eight nine ten eleven twelve twenty hundred 2 7 15 many few"
AFTER_A = (
    "lot assortment number couple bunch handful litany sheaf slew dozen series variety multitude wad clutch wave "
    "mountain array spate string ton range plethora heap sort form kind type version bit pair triple total "
    "group flock pile crowd set row line collection stack piece"
)
BEFORE_OF = (
    "lots many several plenty tons dozens multitudes mountains loads pairs tens hundreds thousands millions billions "
    "trillions 100s 20s few groups most"
)
BEFORE_DEFINITE = (
    "some all both neither everyone nobody one two three four five six seven eight nine ten hundred thousand million "
    "billion trillion 12 any none each half"
)
PREPOSITIONS = (
    "by means of|in accordance with|in addition to|in case of|in front of|in lieu of|in place of|in spite of|"
    "on account of|on behalf of|on top of|with regard to|with respect to|apart from|as from|aside from|away from|"
    "close by|close to|contrary to|far from|next to|near to|out of|outside of|pursuant to|regardless of|together with|"
    "across from|along with|alongside of|as for|as of|as per|as to|based on|compared to|compared with|depending on|"
    "except for|exclusive of|followed by|inside of|irrespective of|off of|owing to|preliminary to|preparatory to|"
    "previous to|prior to|subsequent to|thanks to|because of|instead of|according to|in between|up to|on the side of|"
    "at the top of|in the middle of|in back of|such as|as well as|on to|in to|over by|up against|due to"
)
PRONOUNS = (
    "I me my myself yourself he him his himself she her herself it its itself oneself we us our ourselves you your "
    "yourselves they them their themselves one mine hers theirs"
)
SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna"
_ABBREVIATIONS = (
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri ala ariz calif colo conn ct dak "
    "fla ga ind kan kans ky md mich minn mo mont neb nev okla penn tenn va vt wis wisc wyo inc co cos corp ltd plc "
    "bancorp bhd assn univ intl sys jr sr bros esq tel est ext sq blvd rd rt bldg etc al seq mr mrs ms dr drs prof "
    "profs sen sens rep reps atty attys lt col gen messrs gov govs adm rev maj sgt cpl pvt mt capt st ste ave pres "
    "lieut hon brig cmdr comdr pfc spc supt supts det adj adv asst assoc ens insp mlle mme msgr sfc ph ft invt elec "
    "natl dept vs alex wm jos cie cf treas ca fig figs prop no nos art pp op az ark del ill la mass miss ore pa tex "
    "wash pty pte ptys ptes ppty ppte mfg mtg cat dog tv kg lb a b z"
)
_STARTERS = (
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More Mr. Ms. Now "
    "Once One Other Our She Since So Some Such That The Their Then There These They This We What When While Yet You "
    "Dog Two On With People"
)
_TOKEN_LINES = [
    "dunkin' donuts an' somethin' else, ol' man, 'em all, 'til dawn, 'till noon",
    "the '50s car and the '99 truck, O'Brien's pub, d'Artagnan, l'eau, j'ai",
    "cont'd. nor'easter e'er s'mores ev'ry li'l nat'l o'o cap'n c'est",
    "C++ and C# and F# and S&P-500 and S&Ls and AT&T and R&D and M&amp;M",
    "pro- and anti-war, c.d.s, Ph.D. and Ed.D. a.k.a. Doc",
    "-LRB- -RRB- -LCB- -RCB- -LSB- -RSB- ( ) { } [ ]",
    "3-1/2 feet, 3 1/2 feet, 1/4 mile, ½ and 2¾ cups, 10⁄12, x² + y₂",
    "$5, US$5, £5, €5, ¥5, 5¢, 5%, #5, *5*, ~5~, 5+5=10, 5/5, 5-5, 5--5",
    "1,000,000 and 1.5 and .5 and -3 and +3 and 3:30 and 12.05.99 and 2015-03-14 and 3/14/15",
    "(212) 555-0199 and +49 30 1234567 and 555.1234 and 020 7946 0958",
    "a.m. p.m. A.M. U.S.A. U.S.S.R. e.g. i.e. U.S.-U.K. non-U.S. J. R. Smith Jr. The end",
    "a file.txt and photo.jpg, page.html. cat.exe! dog.pdf?",
    "he said: \"yes\" and 'no' and ``maybe'' and “perhaps” and ‘never’ and «oui» and ‹non›",
    "\"", "'", "''", "``", "\"a\"", "a \"b", "it's 'quoted' isn't 'it'", "rock'n'roll", "'n'", "y'all y'know",
    ":) :-) ;-) =D :P <3 ^_^ (^.^) (-_-) :( :o) >:(",
    "wait... what. . . now…. then..... ....... --- -- - — – ‒ ―",
    "<b>bold</b> <br/> <a href=\"x\">y</a> < > <3 << >> <!-- no --> </p>",
    "&amp; &lt; &gt; &quot; &apos; &nbsp; &eacute; &mdash; &#39; &foo;",
    "a\tb\u00a0c\u3000d\u200be\u00adf\ufeffg", "  two  spaces  ", "tab\tbetween", "",
    "naïve café Ångström œuvre straße İstanbul Ελλάδα собака 犬が走る कुत्ता كلب",
    "🐕 😀👍🏽 👨‍👩‍👧 🇺🇸 ♥ ★ → © ™ ®", "zero\u0000byte", "!!! ??? ?! !? ¡ ¿", "; : , . ;: ,,",
    "a/b/c and/or he/she w/ w/o 24/7 1/2/3 a\\b \\* \\/ |||  | || ~ ^ ` _ __ _a_",
    "e-mail x-ray T-shirt up-to-date well-known- -dash twenty-one two-year-old U.S.-based 20-30 a-b-c-",
    "www.a.com http://b.org/c?d=e#f https://g.net. cat@dog.com @dog #cat #1 ftp://x.y",
    "don’t won`t can´t isn′t they’re we’ve I’ll she’d he’s DON'T CAN'T N'T n't 't 's 'S 'RE",
    "the dogs' the dog's James's 1990s 1990's '90s the 5's and A's x's",
    "Cannot GONNA Gotta LEMME Gimme WaNnA cannots gonnas", "'tis 'Twas 'tisn't 'TIS",
    "No. 5 no. five No. No fig. 3 figs. a pp. 12 p. 3 art. 5 Art. art op. 7 ca. 1900 ca. then",
    "Mr.Smith Dr.No e.g.this etc.and so.on end.Start End.start a.b",
]  # fmt: skip

# Families of words: METEOR compares each with each, so that stems, irregular forms and synonyms all show.
FAMILIES = """
organ organs organic organize organization organized organizer organism
hop hops hopped hopping hope hoped hoping hopeful hopefully hopefulness hopeless hopelessly
tie ties tied tying cry cries cried crying die dies dying lie lies lying
relation relations relational relate related relating relative relatively relativity
condition conditional conditionally conditioned generous generously generosity general generally generation
communal community communication communicate arsenal arsenic
ski skis skiing skies sky skied singly single gentle gently ugly early idle idly only news new
inning innings outing outings canning herring herrings earring earrings proceed proceeds exceed exceeded succeed succeeds
agree agreed agreedly agreement agreeable feed feeds bleed bled
happy happily happiness happier happiest unhappy play played player playing playful
easy easily easier possible possibly possibility able ability probably probable
valence valency hesitance hesitancy digitizer digitize radical radically vile vilely
analogous analogously analogy analogically rational rationalize rationalization formality formal formally
decisive decisiveness sensitive sensitivity sensibility sensible callous callousness
apology apologize geology logical biologist biology
fearless fearlessly use useful usefully used user cup cupful
triplicate formative formal electric electrical electricity goodness good better best well
revive revival allow allowance infer inference airline airliner gyroscopic gyroscope
adjust adjustable adjustment defense defensible irritate irritant replace replacement
depend dependent adopt adoption adopter effect effective activate activity angular angularity homologous
rate rating rated cease ceased controll control controlled controlling roll rolled fall falling
glass glasses grass grasses gas gases bus buses dress dresses kiss kisses
box boxes buzz buzzes church churches dish dishes fox foxes quiz quizzes
man men woman women child children foot feet goose geese mouse mice tooth teeth wolf wolves knife knives person people
run ran running runs runner sit sat sitting sits ride rode ridden rides riding rider
eat ate eaten eating eats throw threw thrown throws throwing stand stood standing
big bigger biggest large larger largest great huge small smaller smallest little tiny
couch sofa settee lounge bike bicycle bicycles cycle motorcycle motorbike
car cars auto automobile automobiles truck lorry vehicle train trains railroad
photo photos photograph photographs picture pictures image images photographer
road street path way route lane field fields lawn meadow
kid kids child baby babies infant boy boys lad girl girls lady
jump jumps jumped jumping leap leaps leaped leapt leaping bound
tv television televisions telly fridge refrigerator icebox
plane planes airplane airplanes aeroplane jet ship ships boat boats vessel
is was are were be been being am has have had having do does did done doing
as ass us is its it at a an i as
dog's dogs' dogs dog 's s
yes yesterday youth young younger boy boyish toy toys enjoy enjoyed sayings say says
bead beads beaded bed beds bedded embed embedded
fix fixed fixing mix mixed box boxed show showed showing snow snowed tow towed
egg egged add added ebb ebbed inn innings odd oddly err erred
filling fill file filed filing filling hiss hissed fizz fizzed
controversial controversy universe universal university international internal
grey gray colour color colored colorful coloring theatre theater
paste past pasta waste wasted taste tasty tasted
interfere interfering interference prefer preferred preference
early ear ears earring only on onto how howe atlas atla cosmos cosmo bias bia andes ande
canning can herring her inning inn in outing out proceed procee succeed succee
operator operate operates feudalism feudal triplicate triplic decorative decor decorate
markedly marked mark seemingly seeming seem seems
ugly ug fluent fluently animal animals animalism animality animate affirm affirmative affirmativeness
conversation conversational conversationally adjudicate adjudication adjud disagree disagreement
"""


def _spoken(template: str, words: str, reference: str, sep: str | None = None) -> list[list[str]]:
    return [[template.format(word), reference.format(word)] for word in words.split(sep)]


def groups() -> list[list[str]]:
    """Candidate and references of each image."""
    blocks = [
        [line for line in block.splitlines() if not line.startswith("## ")]
        for block in _WRITTEN.strip().split("\n\n")
    ]
    return [
        *blocks,
        *_spoken("a {} bird on a branch", COLOURS, "the bird is {}"),
        *_spoken("a {} bus on a street", SIZES, "the bus is {}"),
        *_spoken("{} birds sit on a wire", NUMBERS, "a wire with {} birds on it"),
        *_spoken("a {} of birds sit on a wire", AFTER_A, "there is a {} of birds"),
        *_spoken("{} of birds sit on a wire", BEFORE_OF, "a wire with {} of birds on it"),
        *_spoken("{} of the birds sit on a wire", BEFORE_DEFINITE, "birds and {} of them are black"),
        *_spoken("a cat sits {} a box", PREPOSITIONS, "a cat is {} the box", "|"),
        *_spoken("two cats {} a box and a dog", PREPOSITIONS, "{} the box there is a cat", "|"),
        *_spoken("a woman sees two dogs and {} eats", PRONOUNS, "the dogs like a woman and she likes {} too"),
        *_spoken("the dog {} eat", SPLIT_WORDS, "a dog {} go"),
    ]


def token_lines() -> list[str]:
    """Lines for the tokenizer, beside the captions of :func:`groups`."""
    words = _ABBREVIATIONS.split()
    return [
        *_TOKEN_LINES,
        *(f"the {word}. Big {word.title()}. of {word.title()}. 5 {word}." for word in words),
        *(f"in the U.S. {word} cat and J. {word} dog" for word in _STARTERS.split()),
        *(f"{word} {word.upper()} {word.title()} {word}s" for word in SPLIT_WORDS.split()),
    ]


def raw_pairs() -> list[tuple[str, str]]:
    """Lines that METEOR's own tokenization sees as they are (neither is ``|||``, which its protocol reserves)."""
    lines = [line for line in _TOKEN_LINES if "|||" not in line and "\u0000" not in line and line.strip()]
    lines += [line for group in groups()[:40] for line in group]
    return [*((line, line.lower()) for line in lines), *itertools.pairwise(lines)]


def word_pairs() -> list[tuple[str, str]]:
    """Pairs of words of one family, between words that match: a lone match by stem or synonym is worth nothing to METEOR's
    search, but one that joins two chunks is taken."""
    families = [line.split() for line in FAMILIES.strip().splitlines()]
    pairs = [pair for family in families for pair in itertools.combinations(dict.fromkeys(family), 2)]
    return [(f"the {a} zebra", f"the {b} zebra") for a, b in pairs]


def next_lines() -> list[str]:
    """Lines of one file: line ends that are split depending on the next line, before every kind of beginning or a blank line."""
    ends = [
        "etc.",
        "etc",
        "Inc.",
        "the Corp.",
        "in Ill.",
        "ill.",
        "on Main St.",
        "Mr.",
        "vs.",
        "no.",
        "fig.",
        "pp.",
        "the letter C.",
        "a v.",
        "a",
        "D.C.",
        "in the U.S.",
        "at 5 p.m.",
        "a t.v.",
        "e.g.",
        "Ph.D.",
        "the '90s",
        "'04",
        "photo.jpg",
        "a dog.",
        "a dog",
        "a b.c.",
        "Jan.",
        "on Sunset Blvd.",
        "Dept.",
        'said "etc."',
        "(etc.)",
        "etc..",
        "K.",
        "walls .p.",
        "a",
        "b.",
        "H₂O.",
        "русский Ltd.",
    ]
    begins = [
        "A dog",
        "a dog",
        "The dog",
        "the dog",
        "THE DOG",
        "An apple",
        "One man",
        "2 dogs",
        "12",
        "(A dog)",
        '"A dog',
        "'A dog",
        "<b>A",
        "<b> A",
        "<i>a</i>",
        "-- A",
        ", a dog",
        "A",
        "a",
        "He",
        "Hello",
        "É",
        "é",
        "",
        " ",
        "\t",
        ". A",
        "$5",
        "\xa0A dog",
        "Mr. A",
        "I",
        "It's",
        "This",
        "№",
        "犬",
    ]
    lines = [text for end in ends for begin in begins for text in (f"a sign with {end}", begin)]
    # Two blank lines before a capital; the end of the file after an abbreviation.
    return [
        *lines,
        "a sign etc.",
        "",
        " ",
        "A dog",
        "a sign D.C.",
        "",
        "The dog",
        "a letter C.",
        "",
        "",
        "a sign D.C.",
    ]
