// Go's net/http: see main.ts.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
)

const create = "mutation { createPayment(input: { valueCents: 1000 }) { ... on PaymentSuccess { payment { paymentId } } } }"
const long = "{ __schema { types { name description } } }"

func check(feature string, passes bool) {
	if passes {
		fmt.Println("ok", feature)
	} else {
		fmt.Println("failed", feature)
	}
}

func graphql(query string) string {
	body, _ := json.Marshal(map[string]string{"query": query})
	return string(body)
}

func send(method, path, body, key string) (*http.Response, []byte) {
	request, err := http.NewRequest(method, os.Getenv("PSA_URL")+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PSA_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", os.Getenv("PSA_UNIQUE")+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	return response, text
}

func verify(body string) bool {
	secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(os.Getenv("WEBHOOK_ID") + "." + os.Getenv("WEBHOOK_TIMESTAMP") + "." + body))
	own := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, each := range strings.Fields(os.Getenv("WEBHOOK_SIGNATURE")) {
		if hmac.Equal([]byte(own), []byte(each)) {
			return true
		}
	}
	return false
}

func main() {
	fmt.Println("version", strings.TrimPrefix(runtime.Version(), "go"))
	_, text := send("POST", "/graphql", graphql("{ updatesCursor }"), "")
	var cursor struct{ Data struct{ UpdatesCursor string } }
	check("query", json.Unmarshal(text, &cursor) == nil && cursor.Data.UpdatesCursor != "")

	_, first := send("POST", "/graphql", graphql(create), "-graphql")
	again, second := send("POST", "/graphql", graphql(create), "-graphql")
	replayed := again.Header.Get("Idempotent-Replayed") == "true"
	check("mutation", bytes.Contains(first, []byte(`"psa_`)) && bytes.Equal(first, second) && replayed)

	response, text := send("GET", "/v1/wallet", "", "")
	var wallet struct{ Currency string }
	check("rest get", response.StatusCode == 200 && json.Unmarshal(text, &wallet) == nil && wallet.Currency == "BRL")

	made, first := send("POST", "/v1/payments", `{"valueCents": 1000}`, "-rest")
	again, second = send("POST", "/v1/payments", `{"valueCents": 1000}`, "-rest")
	replayed = again.Header.Get("Idempotent-Replayed") == "true"
	check("rest post", made.StatusCode == 201 && bytes.Equal(first, second) && replayed)

	// It asks for gzip by itself, and decodes it.
	response, text = send("POST", "/graphql", graphql(long), "")
	var schema struct {
		Data struct {
			Schema struct{ Types []struct{ Name string } } `json:"__schema"`
		}
	}
	check("gzip", response.Uncompressed && json.Unmarshal(text, &schema) == nil && len(schema.Data.Schema.Types) > 100)

	body := os.Getenv("WEBHOOK_BODY")
	check("webhook", verify(body) && !verify(body+" "))
}
