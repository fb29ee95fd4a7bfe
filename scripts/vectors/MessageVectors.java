import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.CompactArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/** Prints a random body of each version of the named messages, with Kafka's own reading of it: name, version, hex, JSON. */
public class MessageVectors {
    static final Random RANDOM = new Random(1);

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> data = Class.forName("org.apache.kafka.common.message." + name + "Data");
            Class<?> json = Class.forName("org.apache.kafka.common.message." + name + "DataJsonConverter");
            short last = data.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
            Schema[] schemas = (Schema[]) data.getField("SCHEMAS").get(null);
            for (short version = data.getField("LOWEST_SUPPORTED_VERSION").getShort(null); version <= last; version++) {
                Struct struct = structure(schemas[version]);
                ByteBuffer buffer = ByteBuffer.allocate(struct.sizeOf());
                struct.writeTo(buffer);
                buffer.flip();
                String hex = HexFormat.of().formatHex(buffer.array());
                ApiMessage message = (ApiMessage) data.getConstructor().newInstance();
                message.read(new ByteBufferAccessor(buffer), version);
                Object text = json.getMethod("write", data, short.class, boolean.class).invoke(null, message, version, false);
                System.out.println(name + "\t" + version + "\t" + hex + "\t" + (JsonNode) text);
            }
        }
    }

    static Struct structure(Schema schema) throws ReflectiveOperationException {
        Struct struct = new Struct(schema);
        for (BoundField field : schema.fields()) struct.set(field, value(field.def.type));
        return struct;
    }

    /** Old releases have no accessor for the fields. */
    @SuppressWarnings("unchecked")
    static Map<Integer, Field> fieldsOf(Type type) throws ReflectiveOperationException {
        java.lang.reflect.Field fields = TaggedFields.class.getDeclaredField("fields");
        fields.setAccessible(true);
        return (Map<Integer, Field>) fields.get(type);
    }

    static Object value(Type type) throws ReflectiveOperationException {
        String name = type.toString();
        if (type instanceof TaggedFields) {
            Map<Integer, Object> values = new TreeMap<>();
            for (Map.Entry<Integer, Field> entry : fieldsOf(type).entrySet())
                if (RANDOM.nextInt(3) > 0) values.put(entry.getKey(), value(entry.getValue().type));
            return values;
        }
        if (type.isNullable() && RANDOM.nextInt(4) == 0) return null;
        if (type instanceof Schema) return structure((Schema) type);
        if (type instanceof ArrayOf || type instanceof CompactArrayOf) {
            List<Object> elements = new ArrayList<>();
            int count = 1 + RANDOM.nextInt(2);
            while (elements.size() < count) elements.add(value(type.arrayElementType().get()));
            return elements.toArray();
        }
        if (name.endsWith("STRING")) return "s" + RANDOM.nextInt(1000);
        if (name.endsWith("BYTES")) return bytes();
        if (name.endsWith("RECORDS")) return records();
        return switch (name) {
            case "BOOLEAN" -> RANDOM.nextBoolean();
            case "INT8" -> (byte) RANDOM.nextInt();
            case "INT16" -> (short) RANDOM.nextInt();
            case "UINT16" -> RANDOM.nextInt(1 << 16);
            case "INT32" -> RANDOM.nextInt();
            case "INT64" -> RANDOM.nextLong();
            case "UUID" -> new Uuid(RANDOM.nextLong(), RANDOM.nextLong());
            default -> throw new IllegalArgumentException(name);
        };
    }

    static ByteBuffer bytes() {
        byte[] content = new byte[1 + RANDOM.nextInt(6)];
        RANDOM.nextBytes(content);
        return ByteBuffer.wrap(content);
    }

    /** The package of the class depends on the release. */
    static Object records() throws ReflectiveOperationException {
        String of = "org.apache.kafka.common.record.";
        Class<?> records;
        try {
            records = Class.forName(of + "MemoryRecords");
        } catch (ClassNotFoundException missing) {
            records = Class.forName(of + "internal.MemoryRecords");
        }
        return records.getMethod("readableRecords", ByteBuffer.class).invoke(null, bytes());
    }
}
