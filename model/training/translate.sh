#!/bin/sh
# The runs that end in checkpoints/translate-en-fr, from random weights: eight minutes on an H100 beside other runs, and
# an hour on one busy core. Where the first is done on two cores, it takes half a day.
#     sh model/training/translate.sh DIR
# When the committed file was made, only the third run had greetings among its pairs (data/sentence_pairs.py).
# DIR holds Tatoeba's pairs; PYTHON names the interpreter. A run that was killed goes on when the script is started again.
set -eu
train="${PYTHON:-python} -m model.training.translate train --data $1 --optimiser muon --decay constant --dropout 0.2"

$train --out runs/translate-first --precision float32 --batch-tokens 12288 --rate 1.5e-3 --warm-up 400 --seed 1 --every 200 \
	--steps 4094 --cool-down 894
$train --out runs/translate-second --start runs/translate-first --precision float32 --batch-tokens 6144 --rate 5e-4 \
	--warm-up 20 --seed 3 --every 60 --steps 420 --cool-down 300
$train --out runs/translate --start runs/translate-second --precision bfloat16 --batch-tokens 6144 --rate 4e-4 \
	--warm-up 20 --seed 4 --every 60 --steps 300 --cool-down 220
