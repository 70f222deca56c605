#!/bin/sh
# The last two of the runs that end in checkpoints/sentiment: labels for sentences of reviews and of Tatoeba by a
# pretrained encoder, an hour on one core, and two trainings, an hour and a half on two cores with AVX-512.
#     sh model/training/sentiment.sh REVIEWS TATOEBA RATED WORDS ENCODER START
# REVIEWS holds the film reviews, TATOEBA the files train.en-fr.tsv.gz and train.en-de.tsv.gz; RATED and WORDS are
# hutto_ICWSM_2014.tar.gz and vader_sentiment_lexicon.txt, see data/rated.py; ENCODER is a folder with
# all-mpnet-base-v2; START is a folder with the weights to start from. PYTHON names the interpreter. A training that was
# killed goes on when the script is started again. docs/training.md says what such runs came to.
set -eu
python=${PYTHON:-python}
mkdir -p runs

label="$python -m model.training.sentence_teacher label --encoder $5 --rated $3"
[ -f runs/reviews.tsv ] || { $label --reviews "$1" --most 147456 --out runs/part.tsv && mv runs/part.tsv runs/reviews.tsv; }
[ -f runs/negated.tsv ] || {
    $label --reviews "$1" --negated --seed 1 --most 58701 --out runs/part.tsv && mv runs/part.tsv runs/negated.tsv
}
[ -f runs/tatoeba.tsv ] || {
    $label --texts "$2/train.en-fr.tsv.gz" "$2/train.en-de.tsv.gz" --most 73728 --out runs/part.tsv &&
        mv runs/part.tsv runs/tatoeba.tsv
}

train="$python -m model.training.sentiment train --data $1 --rated $3 $4 --taught runs/reviews.tsv runs/negated.tsv \
    runs/tatoeba.tsv --prepared runs/prepared --optimiser muon --decay constant --rate 5e-4 --warm-up 40 \
    --precision bfloat16 --short-shares 0.6 0.1"
$train --out runs/first --start "$6" --steps 4000 --cool-down 1200 --every 500
$train --out runs/sentiment --start runs/first --seed 1 --steps 6000 --cool-down 1800 --every 1000
