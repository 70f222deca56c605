"""Everyday opinions, put together from patterns written for this project.

Film reviews hold few sentences such as "the waiter was not rude at all". These do, with every negation and contrast
that a classifier of reviews tends to get wrong, and their labels are certain.
"""

import random
import re
from collections.abc import Iterator

from model.training.data.sayings import BAD_SAYINGS, GOOD_SAYINGS, SAID

SLOT = re.compile(r"\{(\w+)\}")
VOWEL = re.compile(r"\ba (?=[aeiou])")


def words(text: str) -> tuple[str, ...]:
    """The entries of a list that is written with bars."""
    return tuple(" ".join(entry.split()) for entry in text.split("|"))


def facts(text: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """A thing, what is good to hear of it, and what is bad: one line each, broken lines indented."""
    rows = [line.split("|=|") for line in text.replace("\n ", " ").strip().splitlines()]
    return [(good.split("|")[0], words(good)[1:], words(bad)) for good, bad in rows]


WORDS = {
    "thing": words("""film|film|film|movie|movie|movie|acting|acting|plot|story|book|
film|movie|book|food|soup|pizza|coffee|restaurant|hotel|room|service|phone|battery|screen|laptop|camera|app|game|song|
album|concert|show|series|episode|story|plot|ending|acting|lesson|course|trip|flight|bus|train|car|house|garden|city|
beach|weather|party|dinner|breakfast|cake|dress|jacket|bed|idea|plan|design|website|delivery|product|museum|tour|
music|picture|play|meeting|job|match|result|evening|day|morning|experience|place|shop|haircut|printer|bread|tea|salad|
bike|sofa|lamp|shirt|toy|software|update|lecture|script|novel|article|neighbourhood"""),
    "who": words("""waiter|waitress|teacher|doctor|nurse|driver|guide|neighbour|boss|manager|plumber|receptionist|
    salesman|lady at the desk|actor|actress|director|singer|author|mechanic|landlord|team|staff|cook|dentist"""),
    "it": words("it|this|that|everything|the whole thing|all of it"),
    "good": words("""good|great|excellent|
    wonderful|fantastic|amazing|lovely|brilliant|superb|delightful|perfect|beautiful|nice|pleasant|enjoyable|
    outstanding|charming|impressive|terrific|marvellous|delicious|tasty|friendly|helpful|comfortable|clean|funny|
    touching|fun|exciting|interesting|reliable|fresh|kind|polite|cosy|clever|useful|magnificent|awesome|splendid|
    fabulous|incredible|gorgeous|satisfying|refreshing|inspiring|entertaining|fascinating|hilarious|memorable|
    remarkable|elegant|honest|generous|patient|flawless|spotless|sturdy|smooth|handy|cheerful"""),
    "bad": words("""bad|terrible|awful|horrible|dreadful|poor|boring|dull|disappointing|disgusting|rude|dirty|broken|
    useless|annoying|ugly|slow|noisy|unpleasant|lousy|pathetic|stupid|ridiculous|tedious|mediocre|unfriendly|
    unhelpful|uncomfortable|overpriced|confusing|painful|depressing|unreliable|tasteless|bland|stale|frustrating|weak|
    atrocious|appalling|miserable|nasty|shoddy|filthy|greedy|arrogant|careless|clumsy|worthless|pointless|predictable|
    forgettable|unbearable|laughable|flimsy|faulty|inedible|chaotic|dishonest|lifeless|amateurish|cheap and nasty"""),
    "gain": words("""pleasure|joy|masterpiece|delight|success|treat|bargain|gem|triumph|work of art|winner|blessing|
    breath of fresh air|huge improvement|dream come true|must-see|classic|nice surprise"""),
    "loss": words("""waste of money|waste of time|disaster|mess|rip-off|disappointment|nightmare|failure|let-down|
    joke|scam|headache|catastrophe|step backwards|piece of junk|load of rubbish|insult|flop|nasty surprise|torture"""),
    "works": words("""works perfectly|works like new|exceeded my expectations|made me smile|won me over|runs smoothly|
    arrived early|was worth every penny|was worth the wait|made my day|kept me hooked|never disappoints|
    is worth seeing|made us laugh|took my breath away|was a hit with the kids|does exactly what it promises|
    gets better every time|left me in a good mood|deserves an award|could not have been better|is top quality|
    saved us a lot of time"""),
    "fails": words("""does not work|stopped working after a week|broke down twice|fell apart|let me down|made me sick|
    arrived late and damaged|crashes all the time|gave me a headache|put me to sleep|ruined my day|was not worth it|
    is not worth the money|makes no sense|wasted two hours of my life|left me cold|is full of mistakes|
    drags on forever|costs far too much|gets worse every time|lacks everything|bored me to tears|
    could not have been worse|smells bad|went wrong from the start|never worked properly|was a complete mess"""),
    "helps": words("""was patient with us|answered every question|greeted us with a smile|fixed it in no time|
    did a wonderful job|knew everything|made us feel welcome|was kind to my mother|explained it well|is the best|
    took good care of us|gave a moving performance|deserves praise|was a pleasure to deal with|
    did outstanding work"""),
    "hurts": words("""shouted at us|ignored us|lied to us|kept us waiting for an hour|was rude to my mother|
    did a terrible job|knew nothing|refused to help|made us feel stupid|cheated us|treated us badly|is the worst|
    never called back|rolled his eyes|gave a wooden performance|was no help at all|lost our luggage|did not care"""),
    "glad": words("""happy|thrilled|delighted|relieved|grateful|proud|pleased|impressed|satisfied|glad|excited|
    in love"""),
    "sad": words("""furious|upset|sad|disappointed|frustrated|annoyed|angry|bored|disgusted|unhappy|dissatisfied|
    ashamed|fed up|shocked|let down|heartbroken|tired of it"""),
    "better": words("""much better|a lot better|far better|so much better|better than ever|healthier|much happier|
    calmer|more at ease|a bit better|stronger"""),
    "worse": words("""much worse|a lot worse|far worse|so much worse|worse than ever|sicker|much sadder|more stressed|
    more tired|a bit worse|weaker"""),
    "love": words("love|like|enjoy|adore|recommend|appreciate|admire"),
    "loved": words("loved|liked|enjoyed|adored|really liked|really enjoyed|absolutely loved|was impressed by|fell for"),
    "hate": words("hate|dislike|regret|despise|detest|complain about"),
    "hated": words("""
    hated|disliked|regretted|couldn't stand|really hated|despised|was bored by|did not like|didn't enjoy|
    did not care for|never liked|got tired of|was disappointed by|was annoyed by"""),
    "very": words("|||very|really|so|absolutely|quite|truly|pretty|extremely|simply|incredibly"),
    "was": words("was|is|was|is|turned out to be|seemed|has been|felt|looks|proved"),
    "not": words("was not|is not|wasn't|isn't|was never|is far from|was anything but|was hardly|is by no means"),
    "nots": words("don't|did not|didn't|do not|never|can't say I|would not say I|no longer"),
    "trouble": words("problem|trouble|bad experience|complaint|regret|issue|bad word|dull moment|fault"),
    "start": words("|||||well ,|honestly ,|to be fair ,|in my opinion ,|I think|overall ,|in short :|frankly ,|"
                   "yesterday|my wife says|everyone agrees :|to my surprise|as always ,|trust me ,"),
    "end": words(".|.|.|!||.|!!|, as always.|to me.|this time.|if you ask me.|for us.|, believe me.|again."),
}  # fmt: skip

# {…} is filled from WORDS; BAD is GOOD turned round, so that no word tells the label by being in one of them only.
GOOD = words("""
    the {thing} {was} {very} {good}|the {thing} {was} {good} and {good}|what a {good} {thing}|
    {it} {was} {very} {good}|such a {good} {thing}|I {love} this {thing}|I {loved} the {thing}|
    we {loved} every minute of it|I {loved} it|I {loved} everything about the {thing}|it was a {gain}|
    the {thing} {was} a {gain}|what a {gain}|a real {gain}|the {thing} {works}|it {works}|this {thing} {works}|
    the {who} {helps}|our {who} {helps}|the {who} {was} {very} {good}|a {good} {who} and a {good} {thing}|
    I am {very} {glad}|I'm {glad} with the {thing}|we were {glad}|I feel {glad}|it made me {glad}|
    I will definitely come back|I would buy it again|best {thing} ever|the best {thing} I have ever had|
    one of the best|a {good} {thing}|{good}|{good} {thing}|very {good}|five stars|thumbs up|well done|ten out of ten|
    thank you for the {good} {thing}|I can't wait to go again|{good} , {good} and {good}|I want to see it again|
    I feel {better} after the {thing}|I feel {better} now|{better} than the old one|the {thing} is {better} than before|
    it gets {better} each time|I have never felt {better}|the {thing} made me feel {better}|
    I would gladly pay more for it|I would pay double for this {thing}|
    highly recommended|my favourite {thing}|{good} enough for me|I could watch it every day""")
BAD = words("""
the {thing} {was} {very} {bad}|the {thing} {was} {bad} and {bad}|what a {bad} {thing}|{it} {was} {very} {bad}|
such a {bad} {thing}|I {hate} this {thing}|I {hated} the {thing}|we {hated} every minute of it|I {hated} it|
I {hated} everything about the {thing}|it was a {loss}|the {thing} {was} a {loss}|what a {loss}|a real {loss}|
the {thing} {fails}|it {fails}|this {thing} {fails}|the {who} {hurts}|our {who} {hurts}|
the {who} {was} {very} {bad}|a {bad} {who} and a {bad} {thing}|I am {very} {sad}|
I feel {worse} after the {thing}|I feel {worse} now|{worse} than the old one|the {thing} is {worse} than before|
it gets {worse} each time|I have never felt {worse}|the {thing} made me feel {worse}|
I would not pay half of that for it|I would not pay a cent for this {thing}|I'm {sad} with the {thing}|
we were {sad}|I feel {sad}|it made me {sad}|I will never come back|I would not buy it again|worst {thing} ever|
the worst {thing} I have ever had|one of the worst|a {bad} {thing}|{bad}|{bad} {thing}|very {bad}|zero stars|
thumbs down|I want my money back|do not waste your time on the {thing}|don't buy this {thing}|
{bad} , {bad} and {bad}|avoid this {thing}|stay away from it|I fell asleep|too {bad} for me|
the {thing} was far too {bad}|I have seen better""")
GOOD_NEGATED = words("""the {thing} {not} {bad}|the {thing} {not} {bad} at all|not {bad} at all|not {bad}|
not too {bad}|not {bad} , actually|it was not a {bad} {thing}|this is not a {bad} {thing}|
not a {bad} {thing} by any means|it's not {bad}|this isn't {bad} at all|{it} wasn't as {bad} as I expected|
it's no {bad} {thing}|there is nothing {bad} about the {thing}|nothing wrong with the {thing}|
I found nothing {bad} in it|the {thing} isn't {bad} for a minute|never {bad}|it was never {bad}|
nobody could call it {bad}|I did not find it {bad}|I don't think anybody will {hate} this {thing}|I didn't {hate} it|
I don't {hate} the {thing}|no {trouble} so far|I have never had any {trouble} with it|without a single {trouble}|
no {trouble} at all with the {thing}|{good} without being {bad}|more {good} than {bad}|{good} rather than {bad}|
less {bad} than I feared|neither {bad} nor {bad}|not only {good} but {good}|far from {bad}|anything but {bad}|
nothing to complain about|I have never seen a better {thing}|couldn't be better|it doesn't get better than this|
you won't regret it|you won't be {sad}|I was not {sad}|I'm not {sad} at all|nobody was {sad}|I don't regret it|
it didn't {hate} us|can't go wrong here|can't complain|I can't praise the {thing} enough|I couldn't be more {glad}|
I would not change anything|it never gets {bad}|the {who} was not {bad} at all|the {who} wasn't {bad}|
I could not stop smiling|who wouldn't {love} this {thing}|it is hard not to {love} it|
impossible not to {love} the {thing}|not a {loss}|it wasn't a {loss} at all|no {loss} , this {thing}|no longer {bad}|
not {bad} in the least""")
BAD_NEGATED = words("""the {thing} {not} {good}|the {thing} {not} {good} at all|not {good} at all|not {good}|
not very {good}|not {good} , actually|it was not a {good} {thing}|this is not a {good} {thing}|
not a {good} {thing} by any means|it's not {good}|this isn't {good} at all|{it} wasn't as {good} as I expected|
it's no {good} {thing}|there is nothing {good} about the {thing}|nothing right with the {thing}|
I found nothing {good} in it|the {thing} isn't {good} for a minute|never {good}|it was never {good}|
nobody could call it {good}|I did not find it {good}|I don't think anybody will {love} this {thing}|
I didn't {love} it|I {nots} {love} the {thing}|nothing but {trouble}|I have had nothing but {trouble} with it|
not without a {trouble}|one {trouble} after another with the {thing}|{bad} without being {good}|
more {bad} than {good}|{bad} rather than {good}|less {good} than I hoped|neither {good} nor {good}|
not only {bad} but {bad}|far from {good}|anything but {good}|nothing to be {glad} about|
I have never seen a worse {thing}|couldn't be worse|it doesn't get worse than this|you will regret it|
you won't be {glad}|I was not {glad}|I'm not {glad} at all|nobody was {glad}|I regret it|it didn't {love} us|
nothing works here|I can only complain|I can't {love} the {thing}|I can't recommend the {thing}|
I couldn't be more {sad}|I would change everything|it never gets {good}|the {who} was not {good} at all|
the {who} wasn't {good}|I could not wait for the end|who would {love} this {thing}|it is hard to {love} it|
impossible to {love} the {thing}|not a {gain}|it wasn't a {gain} at all|no {gain} , this {thing}|no longer {good}|
not {good} in the least|not {good} enough|I would not recommend it to anyone|no one should buy this {thing}|
not worth it""")

FACTS = facts(SAID)
SAYINGS = {True: words(GOOD_SAYINGS), False: words(BAD_SAYINGS)}
OWNER = words("the|the|the|my|our|their|this")

# What may stand beside an opinion without changing it, much of it with a "no" or a "nobody" in it: a negation turns
# round what it stands before, not everything in the sentence.
ASIDES = words("""
no doubt|no question|without a doubt|for no reason|for no special reason|not that it matters|
not that anybody asked|and that is no exaggeration|and I am not exaggerating|and I don't say that often|
and I do not say so lightly|and nobody will deny it|which nobody expected|which I did not expect|
like nothing I have seen before|like no other|and nothing else|and I never write reviews|on a rainy day|
with my brother|in the city centre|in every way|about nobody in particular|about two brothers|
about no one you know|with no name|about nothing much|that I bought last week|when I was there in May|
as I told nobody but my wife|and not just for me|and not only on Sundays|before I had even sat down|
from the first day|from start to finish|from beginning to end|for a single second|in a single day|for years|
since last year|no matter what they say|whatever anybody says|if not more|never mind the price|no wonder|
after no more than a day|in less than a week|at half past nine|and we all said so|by any standard|
at no extra cost|with no help from anybody|and my friends agree|every single time|so they tell me""")
ASIDE = 0.25  # share of opinions that one stands beside

BARE = 0.4  # share of sentences without a beginning or an end, as people type them
PARTICULAR, SAYING = 0.25, 0.25  # shares of what is said of one thing, and of set phrases; the rest is patterns


def fill(pattern: str, rng: random.Random) -> str:
    """The pattern with a word in every slot, drawn afresh each time."""
    return SLOT.sub(lambda slot: rng.choice(WORDS[slot.group(1)]), pattern)


def particular(good: bool, rng: random.Random) -> str:
    """Something said of one thing, or two of them."""
    thing, praise, blame = rng.choice(FACTS)
    said = praise if good else blame
    chosen = rng.sample(said, min(len(said), rng.choice((1, 1, 2))))
    return f"{rng.choice(OWNER)} {thing} {' and '.join(chosen)}"


def clause(good: bool, rng: random.Random) -> str:
    """One opinion, plain or negated, some with an aside."""
    body = opinion(good, rng)
    if rng.random() < ASIDE:
        aside, comma = rng.choice(ASIDES), rng.choice(["", " ,"])
        return f"{aside}{comma} {body}" if rng.random() < 0.3 else f"{body}{comma} {aside}"
    return body


def opinion(good: bool, rng: random.Random) -> str:
    """One opinion by itself."""
    kind = rng.random()
    if kind < PARTICULAR:
        return particular(good, rng)
    if kind < PARTICULAR + SAYING:
        return fill(rng.choice(SAYINGS[good]), rng)
    negated = rng.random() < 0.45
    patterns = (GOOD_NEGATED if negated else GOOD) if good else (BAD_NEGATED if negated else BAD)
    return fill(rng.choice(patterns), rng)


def phrase(rng: random.Random) -> tuple[str, bool]:
    """A sentence and whether its opinion is good; where two opinions meet, the one that the sentence ends up with."""
    good = rng.random() < 0.5
    body, kind = clause(good, rng), rng.random()
    if kind < 0.12:
        body = f"{body} {rng.choice(['and', ', and', ';', '.'])} {clause(good, rng)}"
    elif kind < 0.27:
        body = f"{clause(not good, rng)} {rng.choice([', but', 'but', ', yet', '; however ,', '. but'])} {body}"
    elif kind < 0.35:
        body = f"{rng.choice(['although', 'even though', 'though', 'while'])} {clause(not good, rng)} , {body}"
    text = body if rng.random() < BARE else f"{fill('{start}', rng)} {body} {fill('{end}', rng)}"
    text = VOWEL.sub("an ", " ".join(text.split()))
    return (text.replace("'", "’") if rng.random() < 0.3 else text), good


def phrases(count: int, seed: int = 0) -> Iterator[tuple[str, bool]]:
    """``count`` sentences with their labels."""
    rng = random.Random(seed)
    for _ in range(count):
        yield phrase(rng)
