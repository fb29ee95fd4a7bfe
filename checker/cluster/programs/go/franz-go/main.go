// A producer or consumer of franz-go, driven by the line protocol. Settings are the functions of package kgo that make
// options, with their argument as the value.
//
// Producer: "sent" follows when Produce returned, and "report" comes from its promise. franz-go loads the metadata of a
// topic with the first record for it, so "prepare" produces a record for a partition that cannot exist: the library
// loads the metadata and refuses the record, and no record is written. Then ProducerID loads the producer id of an
// idempotent producer. A transactional producer accepts no record outside a transaction: "prepare" does nothing for it,
// the event tells "metadata": false, and "init" calls ProducerID. "commit" and "abort" call EndTransaction, and no Flush
// before. The library sends offsets to a transaction only from the client that consumes, so there is no "send_offsets".
// Records go to partition 0, whatever RecordPartitioner is.
//
// Consumer: "join" makes the client, for the library joins the group as soon as the client exists. "poll" calls
// PollRecords with "count"; the library holds fetched records back, and they do not change what it commits. A poll for no
// record takes one at most, which the program holds for the next poll. With
// BlockRebalanceOnPoll, the next "poll" allows rebalances first. "stored" calls MarkCommitOffsets. Heartbeats,
// rebalances and automatic commits go on between commands, as the library does by itself. No event tells what the group
// takes away: with a function for that the library no longer commits before a rebalance.
package main

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"proofka.example/lines"
)

func code(err error) string {
	var known *kerr.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return fmt.Sprintf("%T", err)
}

func main() {
	lines.Code = code
	lines.Start("github.com/twmb/franz-go", producing, consuming)
}
