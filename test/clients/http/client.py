# Python's http.client, and urllib for one call: see main.ts.
import base64, gzip, hashlib, hmac, json, os, platform, urllib.request
from http.client import HTTPConnection
from urllib.parse import urlsplit

url = os.environ["PSA_URL"]
headers = {"Authorization": "Bearer " + os.environ["PSA_KEY"], "Content-Type": "application/json"}
unique = os.environ["PSA_UNIQUE"]
CREATE = "mutation { createPayment(input: { valueCents: 1000 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }"
LONG = "{ __schema { types { name description } } }"


def graphql(query):
    return json.dumps({"query": query})


def check(feature, passes):
    print("ok" if passes else "failed", feature, flush=True)


print("version", platform.python_version(), flush=True)
connection = HTTPConnection(urlsplit(url).netloc)


def send(method, path, body=None, more={}):
    connection.request(method, path, body, {**headers, **more})
    response = connection.getresponse()
    return response, response.read()


_, text = send("POST", "/graphql", graphql("{ updatesCursor }"))
check("query", len(json.loads(text)["data"]["updatesCursor"]) > 0)

key = {"Idempotency-Key": unique + "-graphql"}
_, first = send("POST", "/graphql", graphql(CREATE), key)
again, second = send("POST", "/graphql", graphql(CREATE), key)
check("mutation", b'"psa_' in first and first == second and again.getheader("Idempotent-Replayed") == "true")

response, text = send("GET", "/v1/wallet")
check("rest get", response.status == 200 and json.loads(text)["currency"] == "BRL")

key = {"Idempotency-Key": unique + "-rest"}
made, first = send("POST", "/v1/payments", '{"valueCents": 1000}', key)
again, second = send("POST", "/v1/payments", '{"valueCents": 1000}', key)
check("rest post", made.status == 201 and first == second and again.getheader("Idempotent-Replayed") == "true")

response, text = send("POST", "/graphql", graphql(LONG), {"Accept-Encoding": "gzip"})
types = json.loads(gzip.decompress(text))["data"]["__schema"]["types"]
check("gzip", response.getheader("Content-Encoding") == "gzip" and len(types) > 100)


def verify(body):
    secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    signed = os.environ["WEBHOOK_ID"] + "." + os.environ["WEBHOOK_TIMESTAMP"] + "." + body
    own = base64.b64encode(hmac.new(secret, signed.encode(), hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest("v1," + own, each) for each in os.environ["WEBHOOK_SIGNATURE"].split(" "))


check("webhook", verify(os.environ["WEBHOOK_BODY"]) and not verify(os.environ["WEBHOOK_BODY"] + " "))

request = urllib.request.Request(url + "/graphql", graphql("{ updatesCursor }").encode(), headers)
with urllib.request.urlopen(request) as response:
    check("urllib", len(json.load(response)["data"]["updatesCursor"]) > 0)
