"""What a user of the official client does, against trainers one after another. Prints one JSON object per trainer and seed.

Runs with every version of the `tinker` package from 0.16. Arguments: base model, addresses of trainers joined by commas, adapter
seeds; one after another, but those joined as 1+2+3 at once, each by a client of its own.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import tinker
from tinker import types


def datum(tokens, weight=1.0):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1]),
            "weights": types.TensorData(data=[weight] * (len(tokens) - 1), dtype="float32", shape=[len(tokens) - 1]),
        },
    )


def use_client(base_model, seed):
    said = {"version": tinker.__version__}
    data = [datum([1, 2, 3, 4, 5, 6]), datum([7, 8, 9, 7, 8, 9, 7]), datum([seed % 50 + 1, 3, 5])]
    adam = types.AdamParams(learning_rate=0.01)

    service = tinker.ServiceClient()
    models = [model.model_name for model in service.get_server_capabilities().supported_models]
    assert base_model in models, models
    training = service.create_lora_training_client(base_model=base_model, rank=8, seed=seed)
    info = training.get_info()
    assert info.model_data.model_name == base_model, info

    # Passes and steps, pipelined: the step is sent before the result of the pass is asked for.
    losses = []
    for _ in range(3):
        passed = training.forward_backward(data, "cross_entropy")
        stepped = training.optim_step(adam)
        result = passed.result()
        losses.append(result.metrics["loss:sum"])
        assert len(result.loss_fn_outputs) == len(data)
        stepped.result()
    assert losses[-1] < losses[0], losses
    said["losses"] = losses

    # A custom loss: minus the mean of the log-probabilities, which is computed here.
    try:
        import torch  # noqa: F401

        def mean_loss(data, logprobs):
            loss = -sum(each.mean() for each in logprobs)
            return loss, {"custom": float(loss.detach())}

        custom = training.forward_backward_custom(data, mean_loss)
        training.optim_step(adam).result()
        said["custom"] = custom.result().metrics["custom"]
    except ImportError:
        said["custom"] = None

    # Save, and a second model that goes on from there: the next step of both is the same.
    saved = training.save_state("state-%d" % seed).result().path
    resumed = service.create_training_client_from_state_with_optimizer(saved)
    after = []
    for client in (training, resumed):
        client.forward_backward(data, "cross_entropy")
        client.optim_step(adam).result()
        after.append(client.forward(data, "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data)
    assert list(after[0]) == list(after[1]), after
    said["after"] = [float(value) for value in after[0]]

    # Samples: from saved weights, from a snapshot, from the base model.
    path = training.save_weights_for_sampler("sampler-%d" % seed).result().path
    prompt = types.ModelInput.from_ints([1, 2, 3])
    params = types.SamplingParams(max_tokens=8, temperature=1.0, seed=11, stop=[])
    by_path = service.create_sampling_client(model_path=path)
    snapshot = training.save_weights_and_get_sampling_client()
    first = by_path.sample(prompt, num_samples=3, sampling_params=params).result()
    again = snapshot.sample(prompt, num_samples=3, sampling_params=params).result()
    assert [s.tokens for s in first.sequences] == [s.tokens for s in again.sequences]
    assert all(len(s.tokens) == 8 and len(s.logprobs) == 8 for s in first.sequences)
    said["samples"] = [list(map(int, s.tokens)) for s in first.sequences]
    scores = by_path.compute_logprobs(types.ModelInput.from_ints([1, 2, 3, 4, 5])).result()
    assert scores[0] is None and len(scores) == 5, scores
    said["scores"] = [float(score) for score in scores[1:]]
    base = service.create_sampling_client(base_model=base_model)
    assert len(base.sample(prompt, num_samples=1, sampling_params=params).result().sequences) == 1

    # What is wrong is told, and the model can still be used.
    try:
        training.forward_backward([datum([1, 10_000_000, 3])], "cross_entropy").result()
        raise AssertionError("an unknown token was taken")
    except Exception as error:  # the class differs between versions
        assert "10000000" in str(error) or "int" in str(error), error
    training.forward_backward(data, "cross_entropy").result()
    training.optim_step(adam).result()

    # Runs and checkpoints.
    rest = service.create_rest_client()
    run = rest.get_training_run(info.model_id).result()
    assert run.is_lora and run.lora_rank == 8, run
    names = sorted(each.checkpoint_id for each in rest.list_checkpoints(info.model_id).result().checkpoints)
    assert names == ["sampler_weights/sampler-%d" % seed, "weights/state-%d" % seed], names
    rest.publish_checkpoint_from_tinker_path(path).result()
    rest.unpublish_checkpoint_from_tinker_path(path).result()
    if hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
        said["archive"] = rest.get_checkpoint_archive_url_from_tinker_path(path).result().url
    rest.delete_checkpoint_from_tinker_path(path).result()

    return said


_, base_model, urls, *all_seeds = sys.argv
for url in urls.split(","):
    os.environ["TINKER_BASE_URL"] = url
    for seeds in all_seeds:
        together = [int(seed) for seed in seeds.split("+")]
        with ThreadPoolExecutor(len(together)) as pool:
            for said in pool.map(lambda seed: use_client(base_model, seed), together):
                print(json.dumps({"url": url, **said}))
