#!/bin/sh
# curl, with OpenSSL for the signature: see main.ts.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
create='{"query":"mutation { createPayment(input: { valueCents: 1000 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }"}'
long='{"query":"{ __schema { types { name description } } }"}'

check() { feature=$1; shift; if "$@"; then echo "ok $feature"; else echo "failed $feature"; fi; }
echo "version $(curl --version | sed -n '1s/^curl \([^ ]*\).*/\1/p')"

# One process for all requests, so that they may share a connection.
common() {
  printf 'header = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' "$PSA_KEY"
  printf 'silent\noutput = "%s"\ndump-header = "%s.head"\nurl = "%s%s"\n' "$1" "$1" "$PSA_URL" "$2"
}
quoted() { printf '%s' "$1" | sed 's/["\\]/\\&/g'; }
{
  common query /graphql
  printf 'data = "%s"\nnext\n' "$(quoted '{"query":"{ updatesCursor }"}')"
  for each in created again; do
    common "$each" /graphql
    printf 'header = "Idempotency-Key: %s-graphql"\ndata = "%s"\nnext\n' "$PSA_UNIQUE" "$(quoted "$create")"
  done
  common wallet /v1/wallet
  printf 'next\n'
  for each in payment payment-again; do
    common "$each" /v1/payments
    printf 'header = "Idempotency-Key: %s-rest"\ndata = "%s"\nnext\n' "$PSA_UNIQUE" "$(quoted '{"valueCents": 1000}')"
  done
  common long /graphql
  printf 'compressed\ndata = "%s"\n' "$(quoted "$long")"
} | curl --config -

replays() { cmp -s "$1" "$2" && grep -q '"psa_' "$1" && grep -qi '^idempotent-replayed: true' "$2.head"; }
is_packed() { grep -qi '^content-encoding: \(gzip\|br\)' long.head && [ "$(grep -o '"name":' long | wc -l)" -gt 100 ]; }
has_wallet() { grep -q '^HTTP/1.1 200' wallet.head && grep -q '"currency":"BRL"' wallet; }
is_made() { grep -q '^HTTP/1.1 201' payment.head && replays payment payment-again; }
check query grep -q '"updatesCursor":"..*"' query
check mutation replays created again
check 'rest get' has_wallet
check 'rest post' is_made
check gzip is_packed

verify() {
  key=$(printf '%s' "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \n')
  own=$(printf '%s.%s.%s' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP" "$1" |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  case " $WEBHOOK_SIGNATURE " in *" v1,$own "*) return 0 ;; *) return 1 ;; esac
}
verifies() { verify "$WEBHOOK_BODY" && ! verify "$WEBHOOK_BODY "; }
check webhook verifies
