package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"proofka.example/lines"
)

type consumer struct {
	topic   string
	options []kgo.Opt
	grouped bool
	blocks  bool
	client  *kgo.Client

	lock     sync.Mutex
	assigned chan struct{} // closed at each assignment
	holds    []int32
	fetched  bool // whether the library has the committed offsets
	start    any

	held []lines.Fields // records that the library gave in a poll for none
}

func consuming(given lines.Given) (map[string]lines.Method, error) {
	options, values, err := configured(given)
	if err != nil {
		return nil, err
	}
	_, grouped := values["ConsumerGroup"]
	_, blocks := values["BlockRebalanceOnPoll"]
	options = append(options, kgo.ConsumeTopics(given.Topic))
	c := &consumer{topic: given.Topic, options: options, grouped: grouped, blocks: blocks, assigned: make(chan struct{})}
	if grouped {
		c.options = append(options, kgo.OnPartitionsAssigned(c.gets), kgo.AdjustFetchOffsetsFn(c.starts))
	}
	return map[string]lines.Method{
		"join": c.join, "poll": c.poll, "commit": c.commit, "stored": c.store, "close": c.close,
	}, nil
}

func (c *consumer) gets(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	c.lock.Lock()
	c.holds = append(c.holds, added[c.topic]...)
	close(c.assigned)
	c.assigned = make(chan struct{})
	c.lock.Unlock()
	partitions := added[c.topic]
	if partitions == nil {
		partitions = []int32{}
	}
	lines.Say("rebalance", lines.Fields{"kind": "assigned", "partitions": partitions})
}

// starts notes the offset of partition 0 that the group had committed, and changes nothing.
func (c *consumer) starts(_ context.Context, fetched map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.fetched = true
	c.start = nil // the library does not tell the offset that AtStart or AtEnd stands for
	if offset, ok := fetched[c.topic][0]; ok && offset.EpochOffset().Offset >= 0 {
		c.start = offset.EpochOffset().Offset
	}
	close(c.assigned)
	c.assigned = make(chan struct{})
	return fetched, nil
}

func (c *consumer) join(command lines.Command) (err error) {
	until, cancel := command.Deadline()
	defer cancel()
	if c.client, err = kgo.NewClient(c.options...); err != nil {
		return err
	}
	if !c.grouped {
		lines.Say("assigned", lines.Fields{"partitions": []int32{0}, "position": nil})
		return nil
	}
	least := int(command.Number("partitions", 1))
	for {
		c.lock.Lock()
		holds, changed := append([]int32{}, c.holds...), c.assigned
		_, generation := c.client.GroupMetadata()
		fetched := c.fetched || len(holds) == 0
		start := c.start
		c.lock.Unlock()
		if len(holds) >= least && generation >= 0 && fetched {
			member, generation := c.client.GroupMetadata()
			membership := lines.Fields{"generation": generation, "member": member}
			lines.Say("assigned", lines.Fields{"partitions": holds, "position": start, "membership": membership})
			return nil
		}
		select {
		case <-changed:
		case <-until.Done():
			return fmt.Errorf("the group has given the consumer no assignment yet: %w", until.Err())
		}
	}
}

func (c *consumer) joined() error {
	if c.client == nil {
		return errors.New("the consumer has not joined")
	}
	return nil
}

func (c *consumer) poll(command lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	if c.blocks {
		c.client.AllowRebalance()
	}
	wait := time.Duration(command.Number("milliseconds", 0)) * time.Millisecond
	until, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	count := int(command.Number("count", 1))
	for len(c.held) == 0 && until.Err() == nil {
		fetches := c.client.PollRecords(until, max(1, count))
		fetches.EachError(func(_ string, _ int32, err error) {
			if !errors.Is(err, context.DeadlineExceeded) {
				lines.Say("error", lines.Told(err))
			}
		})
		fetches.EachRecord(func(one *kgo.Record) {
			c.held = append(c.held, lines.Fields{"offset": one.Offset, "value": string(one.Value)})
		})
	}
	taken := min(count, len(c.held))
	records := append([]lines.Fields{}, c.held[:taken]...)
	c.held = c.held[taken:]
	lines.Say("polled", lines.Fields{"records": records, "held": len(c.held)})
	return nil
}

func (c *consumer) at(offset int64) map[string]map[int32]kgo.EpochOffset {
	return map[string]map[int32]kgo.EpochOffset{c.topic: {0: {Epoch: -1, Offset: offset}}}
}

func (c *consumer) store(command lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	c.client.MarkCommitOffsets(c.at(command.Number("offset", 0)))
	lines.Say("stored", lines.Told(nil).With("offset", command["offset"]))
	return nil
}

func (c *consumer) commit(command lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	var failed error
	if command.Has("offset") {
		failed = c.commitAt(command.Number("offset", 0))
	} else {
		failed = c.client.CommitUncommittedOffsets(context.Background())
	}
	lines.Say("committed", lines.Told(failed).With("offset", command["offset"]))
	return nil
}

func (c *consumer) commitAt(offset int64) (failed error) {
	c.client.CommitOffsetsSync(context.Background(), c.at(offset),
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
			failed = err
			if response == nil {
				return
			}
			for _, topic := range response.Topics {
				for _, partition := range topic.Partitions {
					failed = errors.Join(failed, kerr.ErrorForCode(partition.ErrorCode))
				}
			}
		})
	return failed
}

func (c *consumer) close(lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	c.client.CloseAllowingRebalance()
	return nil
}
