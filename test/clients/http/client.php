<?php
// PHP's curl, and its streams for one call: see main.ts.

if (!function_exists('curl_init')) exit("PHP has no curl: install Debian’s php-curl.\n");

$url = getenv('PSA_URL');
$unique = getenv('PSA_UNIQUE');
$headers = ['Authorization: Bearer ' . getenv('PSA_KEY'), 'Content-Type: application/json'];
const CREATE = 'mutation { createPayment(input: { valueCents: 1000 }) { ... on PaymentSuccess { payment { paymentId } } } }';
const LONG = '{ __schema { types { name description } } }';

function check(string $feature, bool $passes): void
{
    echo $passes ? 'ok' : 'failed', ' ', $feature, "\n";
}

function graphql(string $query): string
{
    return json_encode(['query' => $query]);
}

$curl = curl_init();

/** @return array{int, array<string, string>, string} */
function send(string $method, string $path, ?string $body = null, array $more = [], string $encoding = null): array
{
    global $curl, $url, $headers;
    $answered = [];
    curl_reset($curl);
    curl_setopt_array($curl, [
        CURLOPT_URL => $url . $path,
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_HTTPHEADER => [...$headers, ...$more],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$answered): int {
            [$name, $value] = [...explode(':', $line, 2), ''];
            $answered[strtolower($name)] = trim($value);
            return strlen($line);
        },
    ]);
    if ($body !== null) curl_setopt($curl, CURLOPT_POSTFIELDS, $body);
    if ($encoding !== null) curl_setopt($curl, CURLOPT_ENCODING, $encoding);
    $text = curl_exec($curl);
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $answered, $text];
}

echo 'version ', PHP_VERSION, "\n";
[, , $text] = send('POST', '/graphql', graphql('{ updatesCursor }'));
check('query', strlen(json_decode($text)->data->updatesCursor) > 0);

$key = ["Idempotency-Key: $unique-graphql"];
[, , $first] = send('POST', '/graphql', graphql(CREATE), $key);
[, $again, $second] = send('POST', '/graphql', graphql(CREATE), $key);
check('mutation', str_contains($first, '"psa_') && $first === $second && $again['idempotent-replayed'] === 'true');

[$status, , $text] = send('GET', '/v1/wallet');
check('rest get', $status === 200 && json_decode($text)->currency === 'BRL');

$key = ["Idempotency-Key: $unique-rest"];
[$status, , $first] = send('POST', '/v1/payments', '{"valueCents": 1000}', $key);
[, $again, $second] = send('POST', '/v1/payments', '{"valueCents": 1000}', $key);
check('rest post', $status === 201 && $first === $second && $again['idempotent-replayed'] === 'true');

[, $answered, $text] = send('POST', '/graphql', graphql(LONG), [], 'gzip');
check('gzip', $answered['content-encoding'] === 'gzip' && count(json_decode($text)->data->__schema->types) > 100);

function verify(string $body): bool
{
    $secret = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
    $signed = getenv('WEBHOOK_ID') . '.' . getenv('WEBHOOK_TIMESTAMP') . '.' . $body;
    $own = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $secret, true));
    foreach (explode(' ', getenv('WEBHOOK_SIGNATURE')) as $each) if (hash_equals($own, $each)) return true;
    return false;
}

$body = getenv('WEBHOOK_BODY');
check('webhook', verify($body) && !verify("$body "));

$post = ['method' => 'POST', 'header' => $headers, 'content' => graphql('{ updatesCursor }')];
$text = file_get_contents("$url/graphql", false, stream_context_create(['http' => $post]));
check('streams', strlen(json_decode($text)->data->updatesCursor) > 0);
