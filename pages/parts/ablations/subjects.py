"""Everything that the page Break the formula can show, in three groups."""

from dataclasses import dataclass

from pages.parts.ablations.experiments import EXPERIMENTS, Experiment


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What is shown beside the runs with edits: explained, and what to look for."""

    name: str
    explained: str
    look_for: str


SUBJECTS: dict[str, Explanation] = {
    "heads": Explanation(
        name="One head against many",
        explained=(
            "The projections to queries, keys and values give each token as many numbers as all heads together have. "
            "Many heads cut these numbers into slices that are compared separately; one head compares all of them at "
            "once, and its q·k is the sum of what the heads would have computed. Here the same weights are read as "
            "1, 2, 4 … heads: width, parameters and multiplications stay the same, and √d_k follows the head's new "
            "width. The weights were trained for the largest number in the table, so this shows what the cut is "
            "worth to this model; it does not show what another number of heads would have learned."
        ),
        look_for=(
            "Different favourites: the number of different keys that get the largest weight of a query from some "
            "head. One head has only one favourite; it has to mix everything into a single average."
        ),
    ),
    "word": Explanation(
        name="One word in two texts",
        explained=(
            "A token starts as the same vector in every text: a row of the token table. Attention then adds "
            "information from the text around it, so the “bank” of a river and the “bank” that keeps money can come "
            "apart. The measurement below shows whether they do. You can change both texts and compare any word that "
            "occurs in both."
        ),
        look_for=(
            "0 at the start, where only the word counts. A step up where positions are added, if the word stands at "
            "another position. What the layers add after that comes from the words around it."
        ),
    ),
    "depth": Explanation(
        name="Pre-norm, post-norm, no residuals",
        explained=(
            "A residual connection gives the gradient a way back past every layer. The place of the norm decides "
            "what happens on that way: post-norm (the paper) norms the stream itself after each addition, pre-norm "
            "(GPT-2) norms only what a layer reads. Four untrained stacks, initialised from one seed, read the text "
            "above and predict each next token; one backward pass gives the gradient of all weights of each layer. "
            "The stacks are 32 wide and have 4 heads."
        ),
        look_for=(
            "The last layer as the stack gets deeper. In pre-norm its gradient shrinks, about as 1/√layers, because "
            "each layer is a smaller share of a longer sum. In post-norm it hardly shrinks, which is why post-norm "
            "needs a warm-up of the learning rate (Xiong et al. 2020). Without residuals, both orders are the same "
            "chain of layers and norms except for its first link, and their lines lie close together."
        ),
    ),
    "spread": Explanation(
        name="The spread of q·k",
        explained=(
            "q·k is a sum of d_k products. If the coordinates are independent with variance 1, each product has "
            "variance 1, so the sum has variance d_k and spreads by √d_k. Divided by √d_k, it spreads by 1 at every "
            "width. The page measures this for d_k from 2 to 512 on 8,192 products of random queries and keys, "
            "always the same ones, with 16 keys for a query."
        ),
        look_for=(
            "The measured points on the line of the theory, and their effect on the softmax: without the division, "
            "one key takes nearly all the weight as heads get wider, and hardly any gradient is left for the others."
        ),
    ),
    "bench": Explanation(
        name="Attention by hand",
        explained=(
            "One head on a few tokens whose numbers you choose. Change any cell of the queries, the keys, the values "
            "or the mask; the code that runs the models here then computes every step below again."
        ),
        look_for=(
            "Make one query ten times longer: its row of weights gets sharper. Remove all ticks of a row: its "
            "weights and its context become 0. Exchange two keys together with their values: the context of a query "
            "that may look at both does not change."
        ),
    ),
    "split": Explanation(
        name="The width cut into heads",
        explained=(
            "A head is a slice. The query projection gives one token as many numbers as all heads together have; the "
            "first d_k of them are the query of head 1, the next d_k that of head 2, and so on. Keys and values are "
            "cut in the same way, and after attention the heads' contexts are joined again, side by side. The "
            "pictures show the numbers of the text above, for the layer and token that you choose."
        ),
        look_for=(
            "Both pictures show the same numbers. In the second picture each row is one head; only numbers within a "
            "row are multiplied with a key of that head."
        ),
    ),
    "padding": Explanation(
        name="Padding with and without its mask",
        explained=(
            "Texts of different lengths go through a model together when padding tokens fill up the shorter ones. A "
            "mask keeps every query from looking at them. Here the text above is computed alone, then padded with "
            "the mask, then padded without it."
        ),
        look_for=(
            "With the mask nothing changes, up to rounding. Without it, the padding takes weight away from the "
            "words, and the text's own vectors move. A causal mask hides padding at the end by itself."
        ),
    ),
}

ALL: dict[str, Experiment | Explanation] = {**EXPERIMENTS, **SUBJECTS}
GROUPS: dict[str, tuple[str, ...]] = {
    "In this text": (*EXPERIMENTS, "heads", "word"),
    "In fresh models": ("depth", "spread"),
    "By hand": ("bench", "split", "padding"),
}
SHORT = {
    "residual": "No residual",
    "mute": "Mute a head",
    "hide": "Forbid a token",
}  # names without the place that they act on


def group_of(name: str) -> str:
    """The group in which an experiment stands."""
    return next(group for group, names in GROUPS.items() if name in names)


def short_name(name: str) -> str:
    """An experiment's name without its place."""
    return SHORT.get(name, ALL[name].name)
