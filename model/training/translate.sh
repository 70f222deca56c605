#!/bin/sh
# The runs that end in checkpoints/translate-en-fr, from random weights: eight minutes on an H100 beside other runs, and
# half an hour on one busy core. Where the first is done on two cores, it takes half a day.
#     sh model/training/translate.sh DIR
# The committed file had no greetings among its pairs (data/sentence_pairs.py); what is trained now has.
# DIR holds Tatoeba's pairs; PYTHON names the interpreter. A run that was killed goes on when the script is started again.
set -eu
train="${PYTHON:-python} -m model.training.translate train --data $1 --optimiser muon --decay constant --precision float32"

$train --out runs/first --batch-tokens 12288 --rate 1.5e-3 --warm-up 400 --dropout 0.2 --seed 1 --every 200 --steps 4094 \
	--cool-down 894
$train --out runs/translate --start runs/first --batch-tokens 6144 --rate 5e-4 --warm-up 20 --dropout 0.2 --seed 3 \
	--every 60 --steps 420 --cool-down 300
