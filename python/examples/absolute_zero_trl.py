"""Absolute Zero with TRL's GRPOTrainer, unmodified, on a CPU or a GPU.

    python absolute_zero_trl.py --model models/tiny --out runs/trl --steps 60
    python absolute_zero_trl.py --model models/tiny --out runs/trl --steps 60 --resume

TRL generates, computes advantages and losses, and saves checkpoints. The game writes the prompts, judges, and keeps the tasks; its run
directory is `game` in the folder of `--out`. It needs trl and torch.
"""

from __future__ import annotations

import argparse
import json
import math

import torch
from trl import GRPOConfig, GRPOTrainer

from veriplay.trl_games import SelfPlay

#: The kinds of tasks: deduction, abduction, induction.
KINDS = 3


def main() -> None:
    """Trains, or continues a training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="models/tiny", help="a checkpoint that transformers loads")
    parser.add_argument("--config", help="a configuration of the game [default: the built-in one, for models/tiny]")
    parser.add_argument("--out", default="runs/trl", help="the folder of the trainer's checkpoints and the game's run")
    parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint in --out")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--save-steps", type=int, default=20)
    parser.add_argument("--group-size", type=int, default=8, help="attempts at each task")
    parser.add_argument("--proposals", type=int, default=32, help="proposals of each kind in a step")
    parser.add_argument("--tasks", type=int, default=32, help="tasks of each kind that are attempted in a step")
    parser.add_argument("--eval-tasks", type=int, default=100, help="held-out tasks of each kind, before and after")
    parser.add_argument("--micro-batch", type=int, default=96, help="completions that go through the model together")
    parser.add_argument("--learning-rate", type=float, default=1.5e-4)
    parser.add_argument("--max-tokens", type=int, default=64, help="of a completion")
    options = parser.parse_args()

    completions = KINDS * options.group_size * (math.ceil(options.proposals / options.group_size) + options.tasks)
    cpu = not torch.cuda.is_available()
    args = GRPOConfig(
        options.out,
        max_steps=options.steps,
        save_steps=options.save_steps,
        num_generations=options.group_size,
        per_device_train_batch_size=options.micro_batch,
        gradient_accumulation_steps=math.ceil(completions / options.micro_batch),
        max_completion_length=options.max_tokens,
        learning_rate=options.learning_rate,
        logging_steps=1,
        report_to=[],
        use_cpu=cpu,
        bf16=not cpu,
        gradient_checkpointing=not cpu,
    )
    settings = {
        "game.proposals_per_type": options.proposals,
        "game.tasks_per_type": options.tasks,
        "eval.tasks": options.eval_tasks,
    }
    with SelfPlay(args, config=options.config, settings=settings) as play:
        trainer = GRPOTrainer(
            model=options.model,
            args=args,
            rollout_func=play.rollout,
            reward_funcs=play.reward_funcs,
            train_dataset=play.dataset,
            callbacks=[play.callback],
        )
        trainer.train(resume_from_checkpoint=options.resume or None)
        assert play.game is not None
        if play.game.summary is not None:
            print(json.dumps({name: table["mean"] for name, table in play.game.summary["eval"].items()}))


if __name__ == "__main__":
    main()
