"""What is checked: each kind of number, where it is on the screen, and what it is compared with."""

from functools import partial

from model.measures.evidence.agreement import Check

STORED = "NumPy in 64-bit numbers, from the token ids and the stored weights alone"
EXPLORE, INSIDE, POSITIONS, BREAK = "Explore", "Inside a head", "Positions", "Break the formula"
attention, stream = partial(Check, group="attention"), partial(Check, group="stream")
positions, prediction = partial(Check, group="positions"), partial(Check, group="prediction")

CHECKS = (
    attention(
        name="input",
        quantity="what queries and keys are made of",
        screen=f"{INSIDE}: norm",
        reference=STORED,
    ),
    attention(name="query", quantity="queries", screen=f"{INSIDE}: query and key", reference=STORED),
    attention(name="key", quantity="keys", screen=f"{INSIDE}: query and key", reference=STORED),
    attention(name="value", quantity="values", screen=f"{INSIDE}: value", reference=STORED),
    attention(name="products", quantity="products q·k", screen=f"{INSIDE}: product", reference=STORED),
    attention(name="scale", quantity="what products are multiplied by", screen=f"{INSIDE}: scale", reference=STORED),
    attention(
        name="bias", quantity="what is added for the distance", screen=f"{INSIDE}: bias and mask", reference=STORED
    ),
    attention(
        name="mask",
        quantity="who may see whom",
        screen=f"{INSIDE}: bias and mask",
        reference=STORED,
        absolute=0.0,
        relative=0.0,
    ),
    attention(
        name="scores", quantity="scores: what enters the softmax", screen=f"{INSIDE}: bias and mask", reference=STORED
    ),
    attention(
        name="weights",
        quantity="attention weights",
        screen=f"{EXPLORE}: every view; {INSIDE}: softmax",
        reference=STORED,
    ),
    attention(name="context", quantity="what each head found", screen=f"{INSIDE}: heads joined", reference=STORED),
    attention(
        name="output",
        quantity="what attention adds to the stream",
        screen=f"{INSIDE}: output projection",
        reference=STORED,
    ),
    attention(
        name="fused",
        quantity="what each head found, once more",
        screen=f"{INSIDE}: heads joined",
        reference="torch's fused kernel, scaled_dot_product_attention, on the same queries, keys and values",
    ),
    attention(
        name="rows",
        quantity="sums of rows",
        screen=f"{EXPLORE}: matrix",
        reference="1; 0 for a query that may see nothing",
        relative=0.0,
    ),
    attention(
        name="forbidden",
        quantity="weight where the mask forbids it",
        screen=f"{EXPLORE}: matrix",
        reference="0, exactly",
        absolute=0.0,
        relative=0.0,
    ),
    attention(
        name="causal",
        quantity="earlier tokens without the later ones",
        screen=f"{EXPLORE}: decoder",
        reference="the first half of the text alone: a later token may change no earlier one",
    ),
    attention(
        name="statistics",
        quantity="entropy, distance and the other statistics",
        screen=f"{EXPLORE}: every head in numbers",
        reference="plain Python loops over every weight, with math.log2",
        absolute=1e-9,
        relative=1e-9,
    ),
    stream(name="entering", quantity="what enters the first layer", screen=f"{INSIDE}: embedding", reference=STORED),
    stream(
        name="stream", quantity="the stream before and after layers", screen=f"{INSIDE}: residual", reference=STORED
    ),
    stream(
        name="fed", quantity="what the feed-forward layer reads", screen=f"{INSIDE}: feed-forward", reference=STORED
    ),
    stream(name="hidden", quantity="its hidden numbers", screen=f"{INSIDE}: feed-forward", reference=STORED),
    stream(
        name="fed-forward", quantity="what it adds to the stream", screen=f"{INSIDE}: feed-forward", reference=STORED
    ),
    stream(
        name="final",
        quantity="the stream after the last layer",
        screen=f"{INSIDE}: last norm; {EXPLORE}: prediction",
        reference=STORED,
    ),
    stream(
        name="residual",
        quantity="stream after a layer",
        screen=f"{INSIDE}: feed-forward",
        reference="the sum of the stream before it, what attention says and what the feed-forward layer says",
    ),
    stream(
        name="layers",
        quantity="stream after a layer, once more",
        screen=f"{INSIDE}: feed-forward",
        reference="torch's own TransformerEncoderLayer or TransformerDecoderLayer with the same weights",
    ),
    stream(
        name="batch",
        quantity="the text alone",
        screen=f"{BREAK}: padding",
        reference="the same text padded, in a batch with a longer one",
    ),
    stream(
        name="again",
        quantity="every number, once more",
        screen="every page",
        reference="the same pass run again now, with an edit that changes nothing: the same to the last bit",
        absolute=0.0,
        relative=0.0,
    ),
    positions(name="tokens", quantity="token vectors", screen=f"{POSITIONS}: added to your sentence", reference=STORED),
    positions(
        name="positions", quantity="position vectors", screen=f"{POSITIONS}: added to your sentence", reference=STORED
    ),
    positions(
        name="sinusoids",
        quantity="position vectors, once more",
        screen=f"{POSITIONS}: the position vectors",
        reference="math.sin and math.cos of Python, number by number",
    ),
    positions(
        name="sum",
        quantity="what enters the first layer",
        screen=f"{POSITIONS}: added to your sentence",
        reference="token vector + position vector (+ segment), normed where the model norms it",
    ),
    positions(
        name="shifted",
        quantity="the pass at its own positions",
        screen=f"{POSITIONS}: schemes side by side",
        reference="the same pass with all positions moved by 5: where only distances count, nothing changes",
    ),
    prediction(
        name="pooled",
        quantity="what the classifier reads",
        screen=f"{INSIDE}: pooling; {EXPLORE}: prediction",
        reference=STORED,
    ),
    prediction(name="logits", quantity="logits", screen=f"{INSIDE}: logits; {EXPLORE}: prediction", reference=STORED),
    prediction(
        name="probabilities",
        quantity="probabilities",
        screen=f"{INSIDE}: answer; {EXPLORE}: prediction",
        reference="the softmax in NumPy of NumPy's own logits",
    ),
    prediction(
        name="muted",
        quantity="the chosen head muted",
        screen=f"{EXPLORE}: mute; {BREAK}",
        reference="NumPy with the head's columns of the output projection set to 0: another way to the same numbers",
    ),
)
