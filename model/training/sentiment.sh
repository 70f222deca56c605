#!/bin/sh
# The runs that end in a classifier of film reviews and everyday sentences, from the committed weights: about an hour on
# one core without AVX-512. checkpoints/sentiment is not their outcome yet; docs/training.md says what they came to.
#     sh model/training/sentiment.sh DIR RATED WORDS
# DIR holds the film reviews; RATED and WORDS are hutto_ICWSM_2014.tar.gz and vader_sentiment_lexicon.txt, see
# data/rated.py; PYTHON names the interpreter. A run that was killed goes on when the script is started again.
set -eu
train="${PYTHON:-python} -m model.training.sentiment train --data $1 --rated $2 $3 --prepared runs/prepared"
train="$train --optimiser muon --decay constant --rate 5e-4 --warm-up 40 --precision float32"

$train --out runs/first --start checkpoints/sentiment --steps 700 --cool-down 400 --every 175 --short-shares 0.5 0.15
$train --out runs/sentiment --start runs/first --steps 450 --cool-down 200 --every 200 --seed 1 --short-shares 0.55 0.1
