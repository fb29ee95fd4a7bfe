import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * A producer or consumer of Kafka's own Java library, driven by the line protocol of checker/cluster/client.py.
 *
 * <p>Commands run one after another in the main thread, as in an application with one thread. A blocked send(), commit
 * or poll therefore holds back later commands.
 *
 * <p>Producer. The report of a record comes from the callback of send(). A send() that throws gives the event "failed".
 * "prepare" fetches metadata with partitionsFor(). The library asks for the producer id by itself as soon as it runs; the
 * program only looks at it, in a private field of KafkaProducer, and writes no record. A transactional producer gets its
 * producer id with "init".
 *
 * <p>Consumer. "poll" calls poll(), so max.poll.records limits what the library hands over. Records above "count" wait in
 * the program, and the library's next poll() happens only after the program gave all of them out; the event tells their
 * number ("held"). "join" pauses partitions while it polls for its assignment, so that no record comes with it. There is no poll
 * between commands: the library's own thread sends the heartbeats, up to max.poll.interval.ms. Automatic commits
 * happen where the library does them: in poll() and in close().
 */
public final class JavaClient {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double DEADLINE_SECONDS = 60;
  private static PrintStream events;

  private JavaClient() {}

  public static void main(String[] arguments) throws Exception {
    events = System.out;
    System.setOut(System.err); // loggers print to the standard output, which belongs to the events
    Actor actor = null;
    try {
      actor = started(arguments);
    } catch (Exception refused) {
      say(failure(refused), "event", "failed", "do", "start");
      Runtime.getRuntime().halt(1);
    }
    say(fields(), "event", "ready", "version", AppInfoParser.getVersion());
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      var command = JSON.readTree(line);
      try {
        if (!actor.run(command.path("do").asText(), command)) {
          break;
        }
      } catch (Exception thrown) {
        var failed = failure(thrown);
        for (var names = command.fieldNames(); names.hasNext(); ) {
          var name = names.next();
          failed.put(name, command.get(name));
        }
        say(failed, "event", "failed");
      }
    }
    Runtime.getRuntime().halt(0); // without "close", nothing is flushed, committed or left
  }

  private static Actor started(String[] arguments) {
    var settings = new HashMap<String, Object>();
    settings.put("bootstrap.servers", arguments[0]);
    boolean produces = arguments[1].equals("producer");
    Set<String> known = produces ? ProducerConfig.configNames() : ConsumerConfig.configNames();
    for (int each = 3; each < arguments.length; each++) {
      var pair = arguments[each].split("=", 2);
      if (!known.contains(pair[0])) {
        throw new IllegalArgumentException("This release's " + arguments[1] + " has no setting " + pair[0]);
      }
      if (pair[0].equals("bootstrap.servers")) {
        throw new IllegalArgumentException("The first argument names the servers, and so does bootstrap.servers");
      }
      settings.put(pair[0], pair[1]);
    }
    return produces ? new Producing(arguments[2], settings) : new Consuming(arguments[2], settings);
  }

  /** A client that runs commands; a command returns false if it is the last one. */
  private interface Actor {
    boolean run(String name, JsonNode command) throws Exception;
  }

  private static final class Producing implements Actor {
    private final String topic;
    private final boolean transactional;
    private final KafkaProducer<String, String> producer;

    Producing(String topic, Map<String, Object> settings) {
      this.topic = topic;
      transactional = settings.containsKey("transactional.id");
      producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    @Override
    public boolean run(String name, JsonNode command) throws Exception {
      switch (name) {
        case "prepare":
          prepare(command);
          return true;
        case "send":
          send(command.get("record").asLong(), command.path("attempt").asLong(1));
          return true;
        case "init":
          told("initialised", producer::initTransactions);
          return true;
        case "begin":
          told("begun", producer::beginTransaction);
          return true;
        case "commit":
          told("committed", producer::commitTransaction);
          return true;
        case "abort":
          told("aborted", producer::abortTransaction);
          return true;
        case "send_offsets":
          told("offsets_sent", () -> sendOffsets(command));
          return true;
        case "close":
          producer.close();
          say(fields(), "event", "closed");
          return false;
        default:
          throw new IllegalArgumentException("A producer has no command " + name);
      }
    }

    private void prepare(JsonNode command) throws Exception {
      var partitions = new ArrayList<Integer>();
      for (PartitionInfo each : producer.partitionsFor(topic)) {
        partitions.add(each.partition());
      }
      var found = fields();
      Object numbering = field(producer, "transactionManager");
      if (numbering != null && !transactional) {
        long end = deadline(command);
        Object id = field(numbering, "producerIdAndEpoch");
        while ((long) field(id, "producerId") < 0) {
          if (System.nanoTime() > end) {
            throw new TimeoutException("The producer has no producer id yet");
          }
          Thread.sleep(10); // between two looks at the field
          id = field(numbering, "producerIdAndEpoch");
        }
        found.put("producer_id", field(id, "producerId"));
        found.put("producer_epoch", field(id, "epoch"));
      }
      say(found, "event", "prepared", "partitions", partitions);
    }

    private void send(long number, long attempt) {
      var value = "record-" + number + (attempt > 1 ? "-send-" + attempt : ""); // checker/cluster/sends.py reads it
      // With batch.size=0 a batch has room for the longest form of one record. The key leaves no room for a second one.
      var record = new ProducerRecord<String, String>(topic, 0, value, value);
      producer.send(
          record,
          (metadata, error) -> {
            Object offset = error == null && metadata.hasOffset() ? (Object) metadata.offset() : null;
            say(failure(error), "event", "report", "record", number, "attempt", attempt, "offset", offset);
          });
      say(fields(), "event", "sent", "record", number, "attempt", attempt);
    }

    private void sendOffsets(JsonNode command) {
      var partition = new TopicPartition(command.path("topic").asText(topic), command.path("partition").asInt(0));
      var offsets = Map.of(partition, new OffsetAndMetadata(command.get("offset").asLong()));
      var group = command.get("group").asText();
      var member = command.path("membership");
      producer.sendOffsetsToTransaction(
          offsets,
          member.isObject()
              ? new ConsumerGroupMetadata(
                  group, member.get("generation").asInt(), member.get("member").asText(), Optional.empty())
              : new ConsumerGroupMetadata(group));
    }
  }

  private static final class Consuming implements Actor, ConsumerRebalanceListener {
    private final String topic;
    private final TopicPartition partition;
    private final boolean grouped;
    private final KafkaConsumer<String, String> consumer;
    private final Deque<ConsumerRecord<String, String>> held = new ArrayDeque<>();
    private boolean joining;
    private boolean assigned;

    Consuming(String topic, Map<String, Object> settings) {
      this.topic = topic;
      partition = new TopicPartition(topic, 0);
      grouped = settings.containsKey("group.id");
      consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    @Override
    public boolean run(String name, JsonNode command) throws Exception {
      switch (name) {
        case "join":
          join(command);
          return true;
        case "poll":
          poll(command);
          return true;
        case "commit":
          commit(command);
          return true;
        case "close":
          consumer.close();
          say(fields(), "event", "closed");
          return false;
        default:
          throw new IllegalArgumentException("A consumer of this library has no command " + name);
      }
    }

    private void join(JsonNode command) throws Exception {
      if (grouped) {
        joining = true;
        try {
          waitForAssignment(deadline(command), command.path("partitions").asInt(1));
        } finally {
          joining = false;
        }
      } else {
        consumer.assign(List.of(partition));
      }
      var partitions = new ArrayList<Integer>();
      for (var each : consumer.assignment()) {
        partitions.add(each.partition());
      }
      var found = fields();
      found.put("position", consumer.assignment().contains(partition) ? consumer.position(partition) : null);
      if (grouped) {
        var group = consumer.groupMetadata();
        found.put("membership", Map.of("generation", group.generationId(), "member", group.memberId()));
      }
      say(found, "event", "assigned", "partitions", partitions);
    }

    private void waitForAssignment(long end, int least) throws Exception {
      consumer.subscribe(List.of(topic), this);
      while (!assigned || consumer.assignment().size() < least) {
        if (System.nanoTime() > end) {
          throw new TimeoutException("The group has given the consumer no assignment yet");
        }
        for (var early : consumer.poll(Duration.ofMillis(100))) {
          held.add(early);
        }
      }
      consumer.resume(consumer.assignment());
    }

    private void poll(JsonNode command) {
      int count = command.get("count").asInt();
      long end = System.nanoTime() + command.get("milliseconds").asLong() * 1_000_000;
      while (held.isEmpty()) {
        long left = Math.max(0, end - System.nanoTime());
        for (var each : consumer.poll(Duration.ofNanos(left))) {
          held.add(each);
        }
        if (left == 0) {
          break;
        }
      }
      var records = new ArrayList<Map<String, Object>>();
      while (records.size() < count && !held.isEmpty()) {
        var each = held.remove();
        records.add(Map.of("offset", each.offset(), "value", each.value()));
      }
      say(fields(), "event", "polled", "records", records, "held", held.size());
    }

    private void commit(JsonNode command) {
      var offset = command.path("offset").isNumber() ? (Object) command.get("offset").asLong() : null;
      Exception error = null;
      try {
        if (offset == null) {
          consumer.commitSync();
        } else {
          consumer.commitSync(Map.of(partition, new OffsetAndMetadata((long) offset)));
        }
      } catch (Exception thrown) {
        error = thrown;
      }
      say(failure(error), "event", "committed", "offset", offset);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> added) {
      if (joining) {
        consumer.pause(added);
      }
      assigned = true;
      rebalance("assigned", added);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> removed) {
      rebalance("revoked", removed);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> removed) {
      rebalance("lost", removed);
    }

    private static void rebalance(String kind, Collection<TopicPartition> changed) {
      var partitions = new ArrayList<Integer>();
      for (var each : changed) {
        partitions.add(each.partition());
      }
      say(fields(), "event", "rebalance", "kind", kind, "partitions", partitions);
    }
  }

  /** Says that a call ended; an exception of the call is part of the event, for the application may go on. */
  private static void told(String event, Runnable call) {
    Exception error = null;
    try {
      call.run();
    } catch (Exception thrown) {
      error = thrown;
    }
    say(failure(error), "event", event);
  }

  private static long deadline(JsonNode command) {
    return System.nanoTime() + (long) (command.path("seconds").asDouble(DEADLINE_SECONDS) * 1e9);
  }

  private static Object field(Object owner, String name) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  private static Map<String, Object> fields() {
    return new LinkedHashMap<>();
  }

  private static Map<String, Object> failure(Exception error) {
    var fields = fields();
    fields.put("error", error == null ? null : error.toString());
    fields.put("code", error == null ? null : error.getClass().getSimpleName());
    return fields;
  }

  private static void say(Map<String, Object> fields, Object... pairs) {
    var event = fields();
    for (int each = 0; each < pairs.length; each += 2) {
      event.put((String) pairs[each], pairs[each + 1]);
    }
    fields.forEach(event::putIfAbsent);
    event.put("at", System.currentTimeMillis() / 1000.0);
    try {
      synchronized (events) {
        events.println(JSON.writeValueAsString(event));
        events.flush();
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
