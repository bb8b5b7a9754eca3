"""Teaches and asks `rehearsal serve` with the clients that people have: huggingface_hub, tritonclient, Label Studio as its SDK reads predictions,
schemathesis; then kills it in a session.

    python3 scripts/check_serve.py target/release/rehearsal [--examples 20]

Needs the packages huggingface_hub, tritonclient[http], label-studio-sdk, schemathesis and pillow. Under three minutes."""
import argparse, base64, io, json, pathlib, random, re, signal, subprocess, sys, tempfile, time, urllib.error, urllib.request

import numpy
import tritonclient.http
from huggingface_hub import InferenceClient
from label_studio_sdk.label_interface import LabelInterface
from PIL import Image, ImageDraw


def photo(kind, number):
    """Stripes, bars or checks, as JPEG."""
    rng = random.Random(f"{kind} {number}")
    image = Image.new("RGB", (160, 120), tuple(rng.randrange(60) for _ in range(3)))
    draw, step = ImageDraw.Draw(image), rng.randrange(10, 24)
    colour = {"stripes": (220, 60, 60), "bars": (60, 220, 60), "checks": (60, 60, 220)}[kind]
    for x in range(0, 160, step):
        for y in range(0, 120, step):
            on = {"stripes": x // step % 2, "bars": y // step % 2, "checks": (x // step + y // step) % 2}[kind]
            if on:
                draw.rectangle([x, y, x + step - 1, y + step - 1], fill=colour)
    file = io.BytesIO()
    image.save(file, "JPEG")
    return file.getvalue()


class Server:
    def __init__(self, program, model, *flags):
        command = [program, "serve", model, "--port", "0", *flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        self.url = found.group()

    def call(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(self.url + path, body, {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def teach(self, kinds, numbers):
        parts = []
        for kind in kinds:
            parts.append(f'Content-Disposition: form-data; name="class"\r\n\r\n{kind}'.encode())
            for number in numbers:
                head = f'Content-Disposition: form-data; name="photo"; filename="{kind}-{number}.jpg"\r\n\r\n'
                parts.append(head.encode() + photo(kind, number))
        body = b"".join(b"--XX\r\n" + part + b"\r\n" for part in parts) + b"--XX--\r\n"
        status, job = self.call("POST", "/v1/learn", body, "multipart/form-data; boundary=XX")
        assert status == 202, job
        return job

    def taught(self, kinds, numbers):
        job = self.finished(self.teach(kinds, numbers))
        assert job["state"] == "learned", job
        return job

    def finished(self, job):
        while job["state"] in ("waiting", "running"):
            time.sleep(0.05)
            _, job = self.call("GET", f"/v1/jobs/{job['id']}")
        return job

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=90) == 0, self.process.returncode


def hugging_face(server):
    client = InferenceClient(model=server.url)
    for kind in ("stripes", "bars"):
        labels = client.image_classification(photo(kind, 100))
        assert labels[0].label == kind and 0 < labels[0].score <= 1, labels
    assert len(client.image_classification(photo("bars", 101), top_k=1)) == 1
    print("huggingface_hub: image_classification, top_k")


def triton(server):
    client = tritonclient.http.InferenceServerClient(server.url.removeprefix("http://"))
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("shop")
    assert client.is_model_ready("shop", "1") and client.get_model_metadata("shop")["inputs"][0]["name"] == "image"
    photos = [photo("stripes", 102), photo("bars", 103)]
    for binary in (True, False):
        image = tritonclient.http.InferInput("image", [2], "BYTES")
        if binary:
            image.set_data_from_numpy(numpy.array(photos, dtype=object), binary_data=True)
        else:
            texts = [base64.b64encode(each).decode() for each in photos]
            image.set_data_from_numpy(numpy.array(texts, dtype=object), binary_data=False)
        for version in ("", "1"):
            result = client.infer("shop", [image], model_version=version)
            classes = [name.decode() if isinstance(name, bytes) else name for name in result.as_numpy("class")]
            assert classes == ["stripes", "bars"], classes
            assert numpy.allclose(result.as_numpy("probabilities").sum(axis=1), 1, atol=1e-4)
    outputs = [tritonclient.http.InferRequestedOutput("answer", binary_data=False)]
    result = client.infer("shop", [image], outputs=outputs)
    assert result.as_numpy("answer").shape == (2,) and result.as_numpy("class") is None
    print("tritonclient: health, metadata, infer with binary data and with JSON, by version")


def label_studio(server):
    """What Label Studio sends (label_studio/ml/api_connector.py and its webhooks), and its SDK's check of what comes back."""
    choices = "".join(f'<Choice value="{kind}"/>' for kind in ("Stripes", "bars", "checks"))
    config = f'<View><Image name="photo" value="$image"/><Choices name="kind" toName="photo">{choices}</Choices></View>'
    interface, project = LabelInterface(config), "1.1763500000"

    def send(path, body, expected=200):
        status, answer = server.call("POST", path, json.dumps(body).encode())
        assert status == expected, (path, status, answer)
        return answer

    def task(number, kind):
        image = "data:image/jpeg;base64," + base64.b64encode(photo(kind, number)).decode()
        return {"id": number, "project": 1, "data": {"image": image}, "annotations": [], "predictions": []}

    assert server.call("GET", "/health")[1]["status"] == "UP"
    setup = {"project": project, "schema": config, "hostname": "http://localhost:8080", "access_token": "x", "extra_params": None}
    version = send("/setup", setup)["model_version"]
    asked = {"tasks": [task(110, "stripes"), task(111, "bars")], "project": project, "label_config": config}
    answer = send("/predict", asked | {"params": {"login": None, "password": None, "context": None}})
    for prediction, expected in zip(answer["results"], ("Stripes", "bars"), strict=True):
        problems = interface.validate_prediction(prediction, return_errors=True)
        assert not problems and prediction["model_version"] == version, (problems, prediction)
        assert prediction["result"][0]["value"]["choices"] == [expected], prediction
    result = [{"from_name": "kind", "to_name": "photo", "type": "choices", "value": {"choices": ["checks"]}}]
    event = {"action": "ANNOTATION_CREATED", "project": {"id": 1, "label_config": config}, "task": task(112, "checks")}
    job = send("/webhook", event | {"annotation": {"id": 1, "result": result, "was_cancelled": False}}, 201)["result"]
    assert server.finished(job)["state"] == "learned" and int(send("/setup", setup)["model_version"]) == int(version) + 1
    send("/webhook", {"action": "START_TRAINING", "project": {"id": 1}})
    print("Label Studio: health, setup, predictions that its SDK accepts, a choice that is learned")


def schemathesis(server, examples):
    program = pathlib.Path(sys.executable).parent / "schemathesis"
    # Answers below 500 that fit what is described. (That requests which do not fit are refused is tested by ours.)
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [program, "run", server.url + "/openapi.json", "--checks", checks, "--max-examples", str(examples), "--workers", "2"]
    # Events are a stream without an end that it could wait for.
    command += ["--exclude-path-regex", "events", "--generation-deterministic", "--request-timeout", "20", "--no-color"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[:6000] + done.stderr[-2000:]
    print("schemathesis:", " ".join(done.stdout.strip().splitlines()[-1].split()))


def kills(program, place, trials):
    """Killed at any moment of a session, the model is what it was before or after it, and learns on."""
    rng = random.Random(7)
    model = place / "killed.model"
    server = Server(program, model)
    server.taught(["stripes", "bars"], range(6))
    for trial in range(trials):
        server.teach(["checks"], range(10 * trial, 10 * trial + 10))
        time.sleep(rng.random() * 1.5)
        server.process.kill()
        server.process.wait()
        shown = json.loads(subprocess.run([program, "show", model, "--json"], check=True, capture_output=True).stdout)
        learned = {entry["class"]: entry["learned"] for entry in shown["classes"]}
        assert learned["stripes"] == learned["bars"] == 6 and learned.get("checks", 0) % 10 == 0, learned
        server = Server(program, model)
    assert server.call("POST", "/v1/predict", photo("bars", 5), "image/jpeg")[0] == 200
    server.stop()
    print(f"killed in {trials} sessions: each time the model was as before or as after the session")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--examples", type=int, default=20)
    args = parser.parse_args()
    program = args.program.resolve()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        server = Server(program, place / "shop.model")
        try:
            server.taught(["stripes", "bars"], range(12))
            hugging_face(server)
            triton(server)
            label_studio(server)
            schemathesis(server, args.examples)
            assert server.call("POST", "/v1/predict", photo("bars", 5), "image/jpeg")[0] == 200
            server.stop()
        finally:
            server.process.kill()
        kills(program, place, 6)


main()
