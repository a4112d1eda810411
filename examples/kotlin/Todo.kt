// A client for Android or the JVM: it lists, creates, updates and deletes an item. It needs org.json, which is part of
// Android. On Android, call it outside the main thread, and allow plain HTTP to your machine in the manifest
// (android:usesCleartextTraffic) while you develop.

import java.net.HttpURLConnection
import java.net.URL
import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject

// http://10.0.2.2:5000/ in the Android emulator
val server = System.getenv("TODOITEMS_SERVER") ?: "http://localhost:5000/"
val listUrl = server.trimEnd('/') + "/api/todoitems/"

class Answer(val status: Int, val etag: String?, val body: String)

/** The service refused a request. `code` is a stable word for programs, such as PreconditionFailed. */
class Refused(val status: Int, problem: JSONObject, val etag: String?) : Exception(problem.optString("detail")) {
    val code: String = problem.optString("code")
    /** Only with status 412: the item as it is now. Its ETag is `etag`. */
    val current: JSONObject? = problem.optJSONObject("current")
}

fun send(method: String, url: String, item: JSONObject? = null, etag: String? = null): Answer {
    val connection = URL(url).openConnection() as HttpURLConnection
    connection.requestMethod = method
    connection.connectTimeout = 10_000
    connection.readTimeout = 30_000
    if (etag != null) connection.setRequestProperty("If-Match", etag)
    if (item != null) {
        connection.setRequestProperty("Content-Type", "application/json")
        connection.doOutput = true
        connection.outputStream.use { it.write(item.toString().toByteArray()) }
    }
    val status = connection.responseCode
    val stream = if (status < 400) connection.inputStream else connection.errorStream
    val body = stream?.bufferedReader()?.use { it.readText() } ?: ""
    val newEtag = connection.getHeaderField("ETag")
    if (status >= 400) throw Refused(status, JSONObject(body), newEtag)
    return Answer(status, newEtag, body)
}

fun main() {
    // Make the ID yourself. Then a create whose response was lost can safely be sent again: a duplicate gets 409.
    val id = UUID.randomUUID().toString()
    val item = JSONObject().put("ID", id).put("Name", "Buy milk").put("Notes", "2 litres").put("Done", false)

    val created = send("POST", listUrl, item)
    println("Create: ${created.status} ${created.etag}")

    val items = JSONArray(send("GET", listUrl).body)
    println("List: ${(0 until items.length()).map { items.getJSONObject(it).optString("Name") }}")

    val updated = send("PUT", listUrl + id, item.put("Done", true), created.etag)
    println("Update: ${updated.status} ${updated.etag}")

    try {
        send("PUT", listUrl + id, JSONObject().put("ID", id).put("Name", "Buy oat milk"), created.etag)
    } catch (refused: Refused) {
        println("Update with an old ETag: ${refused.status} ${refused.code}, the item is now ${refused.current}")
    }

    try {
        send("POST", listUrl, item)
    } catch (refused: Refused) {
        println("Create the same ID: ${refused.status} ${refused.code}")
    }

    println("Delete: ${send("DELETE", listUrl + id, etag = updated.etag).status}")
}
