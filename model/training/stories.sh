#!/bin/sh
# The runs that end in checkpoints/stories, from random weights, one after the other: about ten hours on two cores, and
# the third seven minutes on a GPU, where it was done.
#     sh model/training/stories.sh DIR
# DIR holds the books; PYTHON names the interpreter. A run that was killed goes on when the script is started again.
set -eu
data=$1
train="${PYTHON:-python} -m model.training.language train --data $data"

$train --out runs/first --steps 8150 --cool-down 400 --decay inverse-root --warm-up 500 --batch-tokens 3072 \
	--validation-tokens 30720 --repeats 0.5
$train --out runs/second --start runs/first --optimiser muon --decay constant --warm-up 100 --rate 1e-3 --steps 7950 \
	--cool-down 1200 --batch-tokens 4096 --validation-tokens 30720 --repeats 0.5 --seed 1
$train --out runs/stories --start runs/second --optimiser muon --decay constant --precision float32 --rate 4e-4 \
	--warm-up 50 --batch-tokens 16384 --repeats 0.4 --own-text 0.4 --seed 2 --every 200 --steps 511 --cool-down 111
