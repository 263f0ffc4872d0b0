# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches of another program's optimiser on a recorded space. `bench/peers.py` runs it with the Python that has it.

The first argument names the optimiser. stdin has the space as JSON: how many values each parameter has (`levels`), which
are categories (`categorical`), the time of each configuration by its levels or null where it failed (`results`), `seeds`,
`budget`, and the time that is good `enough`. The first line of stdout is the version, then there is one line for each
seed. If the optimiser is not there, the exit status is 77."""
import importlib.metadata
import json
import logging
import random
import sys
import tempfile
import time

CAP = 100


def names(levels):
    return [f"p{i}" for i in range(len(levels))]


class Tpe:
    """The tree-structured Parzen estimator of optuna. A configuration outside the space and a failed one are told as pruned,
    which TPE ranks behind all others. One that was measured before is told its value again, as its documentation does."""

    def __init__(self, space, seed, **options):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.pruned = optuna.trial.TrialState.PRUNED
        kinds, self.names = optuna.distributions, names(space["levels"])
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, **options))
        self.space = {name: kinds.CategoricalDistribution(range(n)) if words else kinds.IntDistribution(0, n - 1)
                      for name, n, words in zip(self.names, space["levels"], space["categorical"])}

    def ask(self, wanted=None):
        if wanted:
            self.study.enqueue_trial(dict(zip(self.names, wanted)))
        self.trial = self.study.ask(self.space)
        return tuple(self.trial.params[name] for name in self.names)

    def tell(self, value):
        if value is None:
            self.study.tell(self.trial, state=self.pruned)
        else:
            self.study.tell(self.trial, value)


class Smac:
    """SMAC's facade for hyperparameters, for deterministic functions. A configuration outside the space and a failed one have
    crashed at the worst time seen so far, because its model cannot take an infinite cost. It never proposes one again. Its
    forest is as large as the results need: by default, it reserves two million nodes for each tree, and starts threads for
    each prediction, which takes most of the time."""

    def __init__(self, space, seed):
        import ConfigSpace
        import smac
        from smac.model.random_forest.random_forest import RandomForest
        from smac.runhistory import StatusType, TrialInfo, TrialValue
        self.made = TrialInfo, TrialValue, StatusType, ConfigSpace.Configuration
        self.names, self.worst = names(space["levels"]), 1
        self.configs = ConfigSpace.ConfigurationSpace(seed=seed)
        for name, n, words in zip(self.names, space["levels"], space["categorical"]):
            self.configs.add(ConfigSpace.CategoricalHyperparameter(name, list(range(n))) if words
                             else ConfigSpace.UniformIntegerHyperparameter(name, 0, n - 1))
        self.folder = tempfile.TemporaryDirectory(prefix="sweetspot-bench-")
        scenario = smac.Scenario(self.configs, deterministic=True, n_trials=space["budget"], seed=seed,
                                 output_directory=self.folder.name)
        kind = smac.HyperparameterOptimizationFacade
        forest = RandomForest(self.configs, log_y=True, n_trees=10, ratio_features=1., min_samples_split=2, seed=seed, n_jobs=1,
                              max_leaf_nodes=CAP * space["budget"])
        self.facade = kind(scenario, lambda config, seed=0: 0., model=forest, logging_level=False, overwrite=True,
                           config_selector=kind.get_config_selector(scenario, retries=10 ** 6))

    def ask(self, wanted=None):
        trial_info, _, _, configuration = self.made
        if wanted:
            self.trial = trial_info(configuration(self.configs, values=dict(zip(self.names, wanted))), seed=0)
        else:
            self.trial = self.facade.ask()
        return tuple(int(self.trial.config[name]) for name in self.names)

    def tell(self, value):
        _, trial_value, status, _ = self.made
        self.worst = max(self.worst, value or 0)
        self.facade.tell(self.trial, trial_value(value or self.worst, status=status.SUCCESS if value else status.CRASHED),
                         save=False)


PEERS = {
    "tpe": ("optuna", Tpe),
    "tpe-independent": ("optuna", lambda space, seed: Tpe(space, seed, multivariate=False)),
    "smac": ("smac", Smac),
}


def search(start, space, seed):
    """Only what is new and in the space counts. After CAP proposals in vain, the next evaluation is drawn at random. A value
    that is good enough ends the search."""
    results, draw = space["results"], random.Random(seed)
    peer, found, begun = start(space, seed), {}, time.process_time()
    count = {"seed": seed, "proposals": 0, "repeats": 0, "outside": 0, "drawn": 0}
    in_vain = 0
    while len(found) < min(space["budget"], len(results)):
        wanted = None
        if in_vain == CAP:
            wanted = next(c for c in iter(lambda: draw.choice(list(results)), None) if c not in found)
            count["drawn"] += 1
        config = peer.ask(wanted)
        count["proposals"] += 1
        new = config in results and config not in found
        count["outside"] += config not in results
        count["repeats"] += config in found
        in_vain = 0 if new else in_vain + 1
        peer.tell(results.get(config))
        if new:
            found[config] = results[config]
            if results[config] and results[config] <= space["enough"]:
                break
    return {**count, "seconds": time.process_time() - begun, "values": list(found.values())}


def main():
    module, start = PEERS[sys.argv[1]]
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(f"{module}: {error}", file=sys.stderr)
        sys.exit(77)
    print(json.dumps({"version": f"{module} {importlib.metadata.version(module)}"}), flush=True)
    logging.disable(logging.WARNING)
    space = json.load(sys.stdin)
    space["results"] = {tuple(levels): value for levels, value in space["results"]}
    for seed in space["seeds"]:
        print(json.dumps(search(start, space, seed)), flush=True)


main()
