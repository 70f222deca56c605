#!/bin/sh
# From nothing to checkpoints/sentiment: a pretrained encoder labels sentences of reviews and of Tatoeba, an hour and a
# half on one core with AVX-512, and two trainings, an hour and a half on two busy ones.
#     sh model/training/sentiment.sh REVIEWS TATOEBA RATED WORDS ENCODER
# REVIEWS holds the film reviews, TATOEBA the files train.en-fr.tsv.gz and train.en-de.tsv.gz; RATED and WORDS are
# hutto_ICWSM_2014.tar.gz and vader_sentiment_lexicon.txt, see data/rated.py; ENCODER is a folder with
# all-mpnet-base-v2. PYTHON names the interpreter. A training that was killed goes on when the script is started again.
# docs/training.md says what other runs came to.
set -eu
python=${PYTHON:-python}
mkdir -p runs

label="$python -m model.training.sentence_teacher label --encoder $5 --rated $3 $4"
[ -f runs/reviews.tsv ] || { $label --reviews "$1" --most 98304 --out runs/part.tsv && mv runs/part.tsv runs/reviews.tsv; }
[ -f runs/negated.tsv ] || {
    $label --reviews "$1" --negated --seed 1 --most 73728 --out runs/part.tsv && mv runs/part.tsv runs/negated.tsv
}
[ -f runs/tatoeba.tsv ] || {
    $label --texts "$2/train.en-fr.tsv.gz" "$2/train.en-de.tsv.gz" --most 49152 --out runs/part.tsv &&
        mv runs/part.tsv runs/tatoeba.tsv
}

# Those with a negation count twice, then three times.
train="$python -m model.training.sentiment train --data $1 --rated $3 $4 --optimiser muon --decay constant \
    --precision bfloat16"
$train --taught runs/reviews.tsv runs/negated.tsv runs/negated.tsv runs/tatoeba.tsv --prepared runs/prepared \
    --out runs/first --rate 1e-3 --warm-up 200 --steps 8000 --cool-down 2500 --short-shares 0.5 0.15
$train --taught runs/reviews.tsv runs/negated.tsv runs/negated.tsv runs/negated.tsv runs/tatoeba.tsv \
    --prepared runs/prepared2 --start runs/first --out runs/sentiment --seed 1 --rate 5e-4 --warm-up 40 --steps 2000 \
    --cool-down 1400 --short-shares 0.65 0.1
