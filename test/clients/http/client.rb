# Ruby's Net::HTTP: see main.ts.
require 'base64'
require 'json'
require 'net/http'
require 'openssl'

ENDPOINT = URI(ENV.fetch('PSA_URL'))
UNIQUE = ENV.fetch('PSA_UNIQUE')
CREATE = 'mutation { createPayment(input: { valueCents: 1000 }) { ... on PaymentSuccess { payment { paymentId } } } }'
LONG = '{ __schema { types { name description } } }'
$stdout.sync = true

def check(feature, passes) = puts("#{passes ? 'ok' : 'failed'} #{feature}")

def send(http, type, path, body = nil, more = {})
  headers = { 'Authorization' => "Bearer #{ENV.fetch('PSA_KEY')}", 'Content-Type' => 'application/json' }
  request = type.new(path, headers.merge(more))
  request.body = body
  http.request(request)
end

def graphql(query) = JSON.generate(query:)

def verified?(body)
  secret = Base64.decode64(ENV.fetch('WEBHOOK_SECRET').delete_prefix('whsec_'))
  signed = "#{ENV.fetch('WEBHOOK_ID')}.#{ENV.fetch('WEBHOOK_TIMESTAMP')}.#{body}"
  own = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', secret, signed))}"
  ENV.fetch('WEBHOOK_SIGNATURE').split.any? { |each| OpenSSL.secure_compare(own, each) }
end

puts "version #{RUBY_VERSION}"
post = Net::HTTP::Post
Net::HTTP.start(ENDPOINT.host, ENDPOINT.port) do |http|
  answer = send(http, post, '/graphql', graphql('{ updatesCursor }'))
  check('query', !JSON.parse(answer.body).dig('data', 'updatesCursor').empty?)

  key = { 'Idempotency-Key' => "#{UNIQUE}-graphql" }
  first = send(http, post, '/graphql', graphql(CREATE), key)
  again = send(http, post, '/graphql', graphql(CREATE), key)
  replayed = again['Idempotent-Replayed'] == 'true'
  check('mutation', first.body.include?('"psa_') && first.body == again.body && replayed)

  wallet = send(http, Net::HTTP::Get, '/v1/wallet')
  check('rest get', wallet.code == '200' && JSON.parse(wallet.body)['currency'] == 'BRL')

  key = { 'Idempotency-Key' => "#{UNIQUE}-rest" }
  first = send(http, post, '/v1/payments', '{"valueCents": 1000}', key)
  again = send(http, post, '/v1/payments', '{"valueCents": 1000}', key)
  replayed = again['Idempotent-Replayed'] == 'true'
  check('rest post', first.code == '201' && first.body == again.body && replayed)

  # It asks for gzip by itself, and decodes it.
  answer = send(http, post, '/graphql', graphql(LONG))
  types = JSON.parse(answer.body).dig('data', '__schema', 'types')
  check('gzip', answer.decode_content && answer['Vary'].to_s.match?(/accept-encoding/i) && types.size > 100)
end

body = ENV.fetch('WEBHOOK_BODY')
check('webhook', verified?(body) && !verified?("#{body} "))
