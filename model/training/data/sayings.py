"""What people say of particular things, good and bad, and their set phrases; written for this project.

``phrases`` draws from it. The point of the first list is that the same word praises one thing and blames another: a hot
soup and a hot room, a cheap ticket and a cheap-looking lamp.
"""

# the thing, then what is good to hear of it, then what is bad
SAID = """
soup|was hot and full of flavour|tasted home-made|warmed us up|=|was lukewarm|was far too salty|tasted of nothing
bread|was warm and crisp|smelled wonderful|came straight from the oven|=|was hard as a rock|was dry|had mould on it
coffee|is strong and smooth|woke me up nicely|smells heavenly|=|was weak and cold|tasted burnt|was like dishwater
steak|was cooked exactly as I like it|melted in the mouth|was juicy|=|was tough as leather|was raw inside|was burnt
pizza|had a thin and crispy crust|was loaded with cheese|came piping hot|=|was soggy|arrived cold|was drowned in oil
chicken|was tender|was nicely seasoned|fell off the bone|=|was undercooked|was dry and stringy|was pink inside
fish|was fresh off the boat|was light and flaky|=|smelled off|was full of bones|was rubbery
fries|were crispy and golden|were hot and salty|=|were limp and greasy|were cold
dessert|was to die for|was the highlight of the meal|=|was far too sweet|came straight out of a packet
portions|were generous|were huge|filled us up|=|were tiny|left us hungry|were a bad joke
wine list|is long and fairly priced|=|is short and overpriced
menu|has something for everyone|offers plenty of choice|=|offers hardly any choice|has not changed in years
prices|are fair|are very reasonable|could hardly be lower|=|are a rip-off|are outrageous|have doubled
bill|was smaller than we expected|was correct to the cent|=|was wrong twice|had hidden charges on it
table|was ready when we came|had a lovely view|=|was sticky|was next to the toilets|wobbled all evening
room|was bright and quiet|was bigger than in the pictures|had everything we needed|=|smelled of damp|was tiny and dark|
 had no hot water|had hair in the sink|looked nothing like the pictures
bed|was soft and cosy|gave me the best sleep in months|=|was hard as a board|creaked all night|had bugs in it
bathroom|was sparkling clean|was newly done up|=|was covered in mould|had not been cleaned for days
shower|was hot and powerful|=|was freezing|flooded the floor|was a mere trickle
breakfast|had something for every taste|kept us going all day|=|was just stale rolls|ran out before we came
pool|was warm and clean|was a hit with the children|=|was closed for our whole stay|was green with slime
view|was breathtaking|was worth the climb|=|was of a brick wall|was blocked by a car park
location|could hardly be better|is ideal|is close to everything|=|is miles from anywhere|does not feel safe at night
staff|were warm and welcoming|could not do enough for us|had a smile for everyone|were on the ball|=|were cold and rude|
 could not care less|argued with us|acted as if we were a burden|had no idea what they were doing
waiter|was attentive|remembered our names|suggested a lovely wine|=|forgot our order twice|spilled wine on my coat|
 was nowhere to be seen|threw the plates on the table
service|was quick and friendly|was first class|was faultless|=|was painfully slow|was non-existent|left a lot to be
 desired|was a shambles
customer service|sorted it out in five minutes|called me right back|replaced it without a fuss|=|hung up on me|
 never answered my mails|sent me round in circles|kept me on hold for ages
delivery|came a day early|was fast and free|was right on schedule|=|took six weeks|never turned up|went to the wrong
 house
parcel|was carefully wrapped|arrived in one piece|=|arrived empty|was crushed|was left out in the rain
refund|came within two days|was no trouble at all|=|never came|took three months and ten phone calls
seller|answered at once|was honest about the scratches|=|lied about the condition|took my money and vanished
quality|is top notch|is better than I expected|is second to none|=|is shocking|is well below average|has gone downhill
battery|lasts all week|charges in no time|still holds its charge after years|=|is dead by noon|drains far too fast|
 gets so hot that it burns|will not charge
screen|is sharp and bright|is a joy to look at|=|cracked on the first day|flickers|is too dim to read
phone|is fast and light|fits nicely in the hand|never lets me down|=|freezes every hour|drops every call|
 overheats|died within a month|will not switch on
camera|takes crisp pictures even at night|is easy to use|=|takes blurry pictures|jams all the time
sound|is rich and clear|fills the room|=|is tinny|crackles|cuts out every minute|is muffled
headphones|fit well and sound great|block out the noise|=|hurt my ears|fell apart in my hands|broke within weeks
charger|charges twice as fast as my old one|=|melted|stopped charging after a few days|does not fit
laptop|starts in seconds|runs everything I need|=|is slow as a snail|sounds like a vacuum cleaner|keeps shutting down
keyboard|feels great to type on|=|has keys that stick|lost two keys in a week
app|is simple and quick|does what I need|has made my life easier|=|crashes whenever I open it|is full of adverts|
 drains my battery|lost all my data
website|is clear and easy to find your way around|=|is a maze|keeps logging me out|took my order and lost it
software|saves me hours|does the job without any fuss|=|is riddled with bugs|froze and lost my work
instructions|were clear and easy to follow|=|made no sense|were missing|were only in Chinese
vacuum cleaner|picks up everything|is light and quiet|=|hardly picks up a thing|broke the second time I used it
kettle|boils in a minute|looks smart in the kitchen|=|leaks|rusted within weeks
washing machine|is quiet and gets everything clean|=|tore my shirts|leaks all over the floor
shoes|fit like a glove|are as comfortable as slippers|are well made|=|gave me blisters|fell to pieces in the rain|
 are two sizes too small
dress|fits perfectly and feels soft|got me lots of compliments|=|shrank in the wash|came with a hole in it|
 looks like a sack on me
jacket|keeps me warm in any weather|is worth every cent|=|lets the rain through|lost its buttons on the first day
colour|is exactly as in the picture|is even prettier in real life|=|came off on my hands|is nothing like the picture
fabric|feels soft and strong|=|is thin and scratchy|ripped straight away
price|was a bargain|is great for what you get|=|is a joke|is far too high for what you get
car|drives like a dream|has never let me down|uses hardly any petrol|=|broke down on the motorway|rattles and smokes|
 is in the garage again|has been nothing but trouble
train|was punctual and quiet|got us there in comfort|=|was an hour late again|was packed like a tin of sardines|
 was cancelled without a word
flight|was smooth|left on time and landed early|=|was delayed for nine hours|was cramped|was overbooked
bus|comes every five minutes|was clean and on time|=|never comes when it should|broke down halfway|was packed
driver|was careful and chatty|helped us with the bags|=|drove like a madman|got lost twice|was on his phone all the way
guide|told the funniest stories|brought history to life|=|mumbled into his scarf|rushed us through everything
queue|moved quickly|=|did not move for two hours
traffic|was light all the way|=|was a nightmare|made us miss the wedding
weather|was sunny and warm all week|could not have been kinder to us|=|ruined our holiday|was cold and wet all week
beach|was clean and nearly empty|is the prettiest on the island|=|was covered in rubbish|was packed and filthy
park|is green and peaceful|is full of flowers|=|is full of broken glass|is littered and unsafe
neighbours|are friendly and helpful|brought us a cake|=|fight all night|let their dog bark all day
house|is full of light|feels like home|=|is damp and draughty|is falling apart
job|pays well and I like the people|makes me get up with a smile|=|is killing me|pays next to nothing|
 makes me sick
boss|listens and stands up for us|gave me a rise|=|takes credit for my work|shouts at everyone|never listens
teacher|makes hard things easy|is patient and fair|inspires the children|=|reads from the book all hour|
 has favourites|makes the children cry
course|taught me more than years at school|is well thought out|=|taught me nothing new|was badly organised|
 was far over my head
book|kept me up all night|had me in tears at the end|is one to read again|draws you in from the first page|=|
 put me to sleep|goes nowhere|is two hundred pages too long|was so dull that I gave up
author|writes like nobody else|knows how to build suspense|=|cannot write to save his life|repeats himself on every page
plot|is full of clever twists|keeps you guessing|hangs together well|=|is full of holes|is paper thin|
 makes no sense whatsoever|can be guessed after five minutes
story|touched my heart|stays with you for days|is well told|=|drags|has been told a hundred times|goes nowhere
characters|feel real|are people you care about|are drawn with love|=|are cardboard|are flat and unlikeable|
 are walking clichés
acting|is first rate|rings true|carries the film|=|is wooden|is over the top|would shame a school play
dialogue|sparkles|is sharp and witty|=|is cringeworthy|is stilted|makes you want to cover your ears
jokes|land every time|had the whole room in stitches|=|fall flat|are as old as the hills|are in poor taste
special effects|are stunning|still hold up today|=|look cheap and fake|look like a student project
soundtrack|gives me goosebumps|fits every scene|=|drowns out every word|got on my nerves
ending|brought tears to my eyes|ties everything together|caught me by surprise|=|comes out of nowhere|
 spoils everything|is a cop-out
film|had me on the edge of my seat|stands up to a second viewing|has its heart in the right place|
 stays with you|flew by|deserves to be seen|=|had me looking at my watch|made me want to leave|outstays its welcome|
 should never have been made|is an insult to the book|takes itself far too seriously|tries too hard|goes nowhere|
 is a chore to sit through
show|gets better with every season|had us hooked from the first episode|=|went off the rails|should have been
 cancelled years ago|has lost its spark
cast|has great chemistry|is a dream|=|looks lost|has no chemistry at all|sleepwalks through it
band|played their hearts out|had everyone dancing|=|was off key all night|came on two hours late
singer|has a voice like honey|gave me goosebumps|=|was flat all night|cannot hold a note
album|has no weak track|gets better every time I hear it|=|has one good song at most|sounds like everything else
game|is impossible to put down|is great fun with friends|=|is full of bugs|gets old after ten minutes|
 is just a way to get your money
doctor|took time to listen|put me at ease|found out what was wrong at once|=|did not even look at me|
 brushed me off|got the diagnosis wrong
dentist|did not hurt me one bit|was gentle|=|hurt me|drilled the wrong tooth
hairdresser|did just what I asked for|made me look ten years younger|=|ruined my hair|cut off far too much
plumber|came within the hour and fixed it|left the place clean|=|made the leak worse|never turned up|
 charged a fortune for nothing
garden|is in full bloom|is a small paradise|=|is a jungle|was destroyed by the builders
gym|is clean and never crowded|has friendly trainers|=|is filthy and overcrowded|has machines that are always broken
party|was a blast|went on until dawn|=|was a bore|ended in tears
concert|sent shivers down my spine|was the night of my life|=|was cut short|sounded like a building site
museum|is a treasure chest|is worth a whole day|=|was half closed|is not worth the entrance fee
hotel|felt like home|is a hidden gem|treated us like royalty|=|is a dump|should be shut down|has seen better days|
 is noisy day and night
restaurant|never puts a foot wrong|is well worth the drive|=|has gone downhill|gave us food poisoning|
 made us wait an hour for water
shop|has everything you could ask for|is my go-to place|=|never has anything in stock|will not take anything back
product|does what it says|is built to last|lives up to the hype|=|broke straight out of the box|does not do what it
 says|falls short in every way|is a piece of rubbish|is not as described|was dead on arrival
update|fixed everything|made it twice as fast|=|broke everything|made it unusable|took away all I liked
day|flew by|could not have gone better|=|went from bad to worse|was a write-off
children|had the time of their lives|could not get enough of it|=|were bored stiff|cried all the way|lost interest
 at once
dog|adores it|wags his tail whenever he sees it|=|refuses to touch it|got sick from it|tore it up within a minute
"""

GOOD_SAYINGS = """
two thumbs up|a breath of fresh air|hats off to everyone involved|keep up the good work|money well spent|
worth every penny|worth the money|great value|good price for what you get|a real bargain|cannot fault it|
could not ask for more|what more could you want|everything went like clockwork|it ticks all the boxes|
it hits the spot|it does the trick|it is just what the doctor ordered|it was love at first sight|
I am over the moon|I am on cloud nine|I take my hat off to them|I was blown away|I was pleasantly surprised|
I was hooked from page one|I was in stitches|I laughed out loud|I cried happy tears|I got more than I bargained for|
I got my money's worth|I would go back in a heartbeat|I would give it six stars if I could|
I have already ordered a second one|I have told all my friends about it|I can't get enough of it|
I can't stop listening to it|I can't imagine life without it|I can't think of anything to improve|
I can't say enough good things about them|I can't thank you enough|I cannot praise them highly enough|
I cannot speak highly enough of the {thing}|I could eat this every day|I couldn't ask for a better {thing}|
I couldn't fault the {thing}|I couldn't be more pleased|I would recommend it to anyone|
I would recommend the {thing} without hesitation|I'd recommend this {thing} to everyone|do yourself a favour and get
one|don't miss it|do not miss this {thing}|you will not be sorry|you will not find a better {thing}|
you could not wish for a better {who}|you have to see this|you get what you pay for and more|
if you only buy one {thing} this year , make it this one|this is how it should be done|this is what I call {thing}|
they know what they are doing|they really care|they go the extra mile|they thought of everything|
they put it right straight away|they deserve every success|nothing was too much trouble|nobody does it better|
no one does it like them|nothing comes close|it never gets old|it never fails to cheer me up|it always puts a smile on
my face|it grows on you|it works a treat|it runs like clockwork|it does what it should|it is a keeper|it is a must|
it is second to none|it's the real deal|it lived up to every expectation|it was better than I dared hope|
it was even better than the first time|it was all I hoped for|it was well worth the wait|it was over far too soon|
it could hardly be better|it could not have gone better|it saved my life|it saved the day|it is a lifesaver|
it arrived sooner than promised|it arrived on time and in perfect condition|still going strong after ten years|
it still works like new|still as good as on the first day|years later it is still my favourite|
no complaints whatsoever|no complaints from me|zero problems|hardly ever a problem|never once has it let me down|
it has never let me down|I have never been happier with a {thing}|I have never laughed so much|
I have never had such a good {thing}|I've never tasted anything so good|I rarely write reviews , but this deserves one|
I have nothing but praise for them|nothing but good things to say|all smiles here|all good|we all agreed it was a hit|
we had a ball|we had the time of our lives|we felt at home from the first minute|we were in good hands|
we were treated like family|we left with full bellies and happy faces|we are already planning our next visit|
we will certainly be back|we'll be coming back for sure|I will be back for more|I'll definitely buy from them again|
can't wait for the next one|looking forward to the next one|roll on the next season|more of this please|
bring on the sequel|big fan|count me in|absolutely spot on|spot on|top marks|full marks|ten out of ten|A plus|
simply the best|the best of the best|best day ever|best decision I ever made|a dream|pure joy|pure gold|
a feast for the eyes|a joy from beginning to end|a real page-turner|a must for every fan|food for the soul|
the whole family enjoyed it|my kids are crazy about it|my wife is delighted with it|my husband loves his|
even my grumpy brother liked it|everyone left happy|everyone had fun|the crowd went wild|the audience cheered|
thanks a million|many thanks for a wonderful {thing}|thanks to the lovely {who}|bless you all|I feel so lucky|
I feel at peace here|I feel great|I got the job|we won|she said yes|my back pain is gone|I sleep so much better now|
I slept like a baby|I passed with flying colours|it made my week|that made my year|what a relief|what a night|
I want to live here|I wish I had found it sooner|I wish I had bought it years ago|I wish there were more of it|
I wish it had never ended|I didn't want it to end|I did not want to leave|I hated to leave|too good to be true but
it is|who says they don't make them like they used to
|how could anyone not like this|what's not to like|what is not to love
"""

BAD_SAYINGS = """
two thumbs down|shame on them|never again|once and never again|lesson learned|money down the drain|a waste of space|
not worth a penny|not worth the paper it is printed on|not worth the wait|not worth the effort|bad value|poor value|
you can get better for half the price|far too expensive for what it is|daylight robbery|buyer beware|steer clear|
avoid at all costs|avoid like the plague|run , don't walk , away|look elsewhere|look for something else|
keep your money|do not bother|don't bother with the {thing}|don't fall for it|don't be fooled by the pictures|
don't believe the hype|spare yourself the trouble|save yourself the money|I want those two hours back|
I want my time back|I demand my money back|I am asking for my money back|I sent it straight back|I returned it|
I threw it in the bin|it went straight into the bin|it is gathering dust|it was a big let-down|it was downhill from
there|it went from bad to worse|it does not do what it should|it did not do a thing for me|it left me cold|
it left a bad taste in my mouth|it got on my nerves|it drove me mad|it made my blood boil|it made my skin crawl|
it broke my heart|it broke the first time I used it|it broke within a week|it stopped after three days|
it died on me|it snapped in two|it fell to bits|it came broken|it arrived broken|it came without half its parts|
it never arrived|it does not fit|it leaks everywhere|it never worked|it hardly works|it barely works|
it would not even switch on|it keeps breaking|it is a piece of rubbish|it is junk|it's a con|it is a fake|it is a pain|
it was like watching paint dry|it was all over the place|it was neither here nor there|it was over my budget and awful|
it could hardly be worse|it could not have gone worse|it lacks any charm|it has no soul|it is nothing special|
it is not what it used to be|it is not what I paid for|it isn't what was promised|it falls short|it falls flat|
it misses the mark|it missed the point|it failed on every level|it was not my cup of tea|it does nothing for me|
I am fed up|I am sick of it|I am sick and tired of this {thing}|I am at the end of my tether|I am so angry|
I am lost for words , and not in a good way|I was bored stiff|I was bored out of my mind|I was robbed|I was conned|
I was left out in the cold|I was expecting much more|I expected better|I expected more from them|
I hoped for more|I had hoped for so much more|I had been looking forward to it , what a let-down|I feel cheated|
I feel robbed|I feel awful|I feel sick|I got food poisoning|I got ill from it|I walked out|I left halfway through|
I switched it off after ten minutes|I gave up after one chapter|I could not finish it|I couldn't get through it|
I could not wait to leave|I couldn't wait for it to be over|I couldn't care less about any of them|
I can't believe I paid for this|I can't believe how bad it was|I can't get it to work|I can't stand it|
I can't stand the {who}|I cannot recommend it|I cannot recommend this {thing} to anybody|I can't in good conscience
recommend it|I can't think of one good thing about it|I can't understand the hype|I don't see the point|
I don't get what the fuss is about|I don't know what they were thinking|I don't trust them any more|
I would not wish it on my worst enemy|I wouldn't give it to my dog|I wouldn't take it as a gift|
I wouldn't go back if they paid me|I wouldn't touch it again|I would give it no stars if I could|
I wish I had never bought it|I wish I had stayed at home|I wish I could give it less than one star|I wish I had read
the reviews first|I should have known better|I should have listened to the reviews|I should have kept my old one|
I have never been so bored|I have never seen such a bad {thing}|I've never been so insulted|
I have never had such a bad {thing}|I have rarely been so disappointed|I have lost all respect for them|
I have nothing good to say about it|nothing works as it should|nothing was done about it|nobody helped us|
nobody cared|nobody picked up the phone|no one could tell us anything|no help whatsoever|no apology , nothing|
no taste at all|no heart , no brain|hardly a laugh in it|hardly edible|barely usable|not a single laugh|
not one good scene|not what I expected at all|not as advertised|not as described|not as good as it used to be|
not half as good as the first one|not up to standard|not up to scratch|not fit for purpose|not even close|
they don't care|they do not care about their customers|they took my money and ran|they lost my booking|
they charged me twice|they overcharged us|they got my order wrong again|they blamed it on me|they talked down to us|
they let us down|they have no shame|they should be ashamed of themselves|they ought to be shut down|
we left hungry|we left before the end|we left after ten minutes|we waited two hours and then left|we were ignored|
we waited forever|we were treated like dirt|we will not be back|we won't be coming back|we shall not be going again|
that was my last visit|this is the last time I buy from them|you get what you pay for , and that is nothing|
you will be sorry|you are better off without it|you might as well burn your money|you could not pay me to see it again|
the worst of the worst|worst day ever|worst decision I ever made|worst money I ever spent|an insult to the fans|
an insult to my intelligence|a slap in the face|a pain in the neck|a bitter disappointment|a total flop|a bad dream|
a lot of noise about nothing|a sad excuse for a {thing}|a poor copy of the original|too long , too loud , too stupid|
too little , too late|too much hassle|too much trouble for too little|my kids hated it|my wife was in tears|
my husband fell asleep|even my mother could not find a kind word|everyone left early|the whole family was bored|
the audience booed|my back hurts|my order was wrong|my order was cancelled without a reason|I lost my job|we lost|
I failed again|my head hurts|I can't sleep because of the noise|I did not sleep a wink|I hardly slept|what a shame|
what a pity|how could they ruin such a good {thing}|how can anyone like this|who would pay for this|what were they
thinking|why do I put up with this|why is it always broken|is there anyone who cares
"""
