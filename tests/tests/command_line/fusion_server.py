"""A server that speaks as SandboxFusion does, for the tests of the commands that ask one.

`fusion_server.py [MODE]` prints its address and serves until it is killed. It runs programs with `python3` for as long as they may. Modes: `tls`
has the certificate `own.pem` of its folder and wants a token, `silent` says of every program that it printed nothing, `faulty` answers nonsense.
"""

import http.server
import json
import ssl
import subprocess
import sys
import tempfile

MODE = "".join(sys.argv[1:])


def run(request):
    assert (request["language"], request["memory_limit_MB"]) == ("python", 256), request
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/code.py", "w", encoding="utf-8") as file:
            file.write(request["code"])
        command = ["timeout", "-k", "1", str(request["run_timeout"]), "python3", f"{folder}/code.py"]
        done = subprocess.run(command, input=request["stdin"].encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
    late = done.returncode == 124
    result = {
        "status": "TimeLimitExceeded" if late else "Finished",
        "execution_time": 0.1,
        "return_code": None if late else done.returncode,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": "",
    }
    status = "Failed" if done.returncode else "Success"
    return {"status": status, "message": "", "compile_result": None, "run_result": result, "executor_pod_name": None, "files": {}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        assert self.path == "/run_code", self.path
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if MODE == "faulty":
            self.answer(500, "no")
        elif MODE == "silent":
            self.answer(200, json.dumps({"status": "Success", "run_result": {"return_code": 0, "stdout": ""}}))
        elif MODE == "tls" and self.headers["Authorization"] != "Bearer a-token-of-the-test":
            self.answer(401, "no token")
        else:
            self.answer(200, json.dumps(run(request)))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
address = f"http://127.0.0.1:{server.server_address[1]}"
if MODE == "tls":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("own.pem", "own.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    address = address.replace("http://127.0.0.1", "https://localhost")
print(address, flush=True)
server.serve_forever()
