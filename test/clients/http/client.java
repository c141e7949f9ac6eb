// Java's HttpClient, which asks to change to HTTP/2, and HttpURLConnection for one call: see main.ts.
import java.io.ByteArrayInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.GZIPInputStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Client {
  static final String CREATE =
      "mutation { createPayment(input: { valueCents: 1000 }) { ... on PaymentSuccess { payment { paymentId } } } }";
  static final String LONG = "{ __schema { types { name description } } }";
  static final HttpClient http = HttpClient.newHttpClient();

  static String env(String name) {
    return System.getenv(name);
  }

  static void check(String feature, boolean passes) {
    System.out.println((passes ? "ok " : "failed ") + feature);
  }

  static String graphql(String query) {
    return "{\"query\":\"" + query + "\"}";
  }

  static HttpResponse<byte[]> send(String method, String path, String body, String... more) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(env("PSA_URL") + path))
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .header("Authorization", "Bearer " + env("PSA_KEY"))
        .header("Content-Type", "application/json");
    if (more.length > 0) request.headers(more);
    return http.send(request.build(), BodyHandlers.ofByteArray());
  }

  static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  static boolean replays(HttpResponse<byte[]> first, HttpResponse<byte[]> again) {
    var replayed = again.headers().firstValue("Idempotent-Replayed").orElse("").equals("true");
    return replayed && text(first).equals(text(again)) && text(first).contains("\"psa_");
  }

  static boolean verify(String body) throws Exception {
    var secret = Base64.getDecoder().decode(env("WEBHOOK_SECRET").substring("whsec_".length()));
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    var signed = env("WEBHOOK_ID") + "." + env("WEBHOOK_TIMESTAMP") + "." + body;
    var own = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    return Arrays.stream(env("WEBHOOK_SIGNATURE").split(" "))
        .anyMatch(each -> MessageDigest.isEqual(own.getBytes(), each.getBytes()));
  }

  public static void main(String[] args) throws Exception {
    System.out.println("version " + System.getProperty("java.version"));
    check("query", text(send("POST", "/graphql", graphql("{ updatesCursor }"))).startsWith("{\"data\":{\"updatesCursor\":\""));

    String[] key = {"Idempotency-Key", env("PSA_UNIQUE") + "-graphql"};
    var first = send("POST", "/graphql", graphql(CREATE), key);
    check("mutation", replays(first, send("POST", "/graphql", graphql(CREATE), key)));

    var wallet = send("GET", "/v1/wallet", null);
    check("rest get", wallet.statusCode() == 200 && text(wallet).contains("\"currency\":\"BRL\""));

    key[1] = env("PSA_UNIQUE") + "-rest";
    first = send("POST", "/v1/payments", "{\"valueCents\": 1000}", key);
    check("rest post", first.statusCode() == 201 && replays(first, send("POST", "/v1/payments", "{\"valueCents\": 1000}", key)));

    var packed = send("POST", "/graphql", graphql(LONG), "Accept-Encoding", "gzip");
    var unpacked = new GZIPInputStream(new ByteArrayInputStream(packed.body())).readAllBytes();
    var isPacked = packed.headers().firstValue("Content-Encoding").orElse("").equals("gzip");
    check("gzip", isPacked && new String(unpacked, StandardCharsets.UTF_8).split("\"name\":").length > 100);

    check("webhook", verify(env("WEBHOOK_BODY")) && !verify(env("WEBHOOK_BODY") + " "));

    var connection = (HttpURLConnection) URI.create(env("PSA_URL") + "/graphql").toURL().openConnection();
    connection.setRequestProperty("Authorization", "Bearer " + env("PSA_KEY"));
    connection.setRequestProperty("Content-Type", "application/json");
    connection.setDoOutput(true);
    connection.getOutputStream().write(graphql("{ updatesCursor }").getBytes());
    var answer = new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    check("HttpURLConnection", answer.startsWith("{\"data\":{\"updatesCursor\":\""));
  }
}
