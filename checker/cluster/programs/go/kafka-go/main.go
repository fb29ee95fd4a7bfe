// A producer or consumer of kafka-go (segmentio), driven by the line protocol. Settings are the fields of kafka.Writer
// and of kafka.ReaderConfig, and those of their parts: "Transport.DialTimeout", "Dialer.Timeout". ClientID belongs to
// the transport or the dialer, and IdleConnTimeout is the transport's IdleTimeout.
//
// Producer: "send" calls WriteMessages with one message, in a goroutine of its own, for this call returns only when the
// batch was written or failed, unless Async is true. So "sent" comes after this time, together with "report", which
// tells what WriteMessages returned. The next command waits only until the library chose the record's partition, which
// keeps records in order. With Async, "report" comes from
// Completion. "prepare" asks for the topic's metadata through the producer's own transport, which then has it. The
// library has neither idempotence nor transactions. Records go to partition 0, whatever Balancer is.
//
// Consumer: "join" makes the Reader, which joins its group as soon as it exists; the program sees the assignment in a line
// of the Reader's log. "poll" calls FetchMessage, or ReadMessage, which commits, where the setting Reads says so: for the
// first record until it is there, then while the Reader's queue has records, at most "count". The library fetches ahead
// into its queue. "commit" calls CommitMessages, by default for the last record that "poll" gave; with CommitInterval,
// this call only notes the offset.
package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go"
	"proofka.example/lines"
)

var constants = map[string]int64{
	"RequireNone": int64(kafka.RequireNone), "RequireOne": int64(kafka.RequireOne), "RequireAll": int64(kafka.RequireAll),
	"all":         int64(kafka.RequireAll),
	"FirstOffset": kafka.FirstOffset, "LastOffset": kafka.LastOffset,
	"ReadUncommitted": int64(kafka.ReadUncommitted), "ReadCommitted": int64(kafka.ReadCommitted),
}

var compressions = map[string]kafka.Compression{
	"Gzip": kafka.Gzip, "Snappy": kafka.Snappy, "Lz4": kafka.Lz4, "Zstd": kafka.Zstd,
}

// plain returns a value without the name of its package.
func plain(text string) string { return strings.TrimPrefix(text, "kafka.") }

func code(err error) string {
	var known kafka.Error
	if errors.As(err, &known) {
		return known.Title()
	}
	return fmt.Sprintf("%T", err)
}

func main() {
	lines.Code = code
	lines.Start("github.com/segmentio/kafka-go", producing, consuming)
}
