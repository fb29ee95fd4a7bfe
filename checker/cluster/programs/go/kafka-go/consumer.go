package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"proofka.example/lines"
)

// aMoment is the longest time for a record that the reader's queue already has.
const aMoment = 100 * time.Millisecond

// subscribed matches the line of the reader's log that tells its assignment: a map of topics, partitions and offsets.
var subscribed = regexp.MustCompile(`^subscribed to topics and partitions: map\[(.*)]$`)

// position matches a partition of this map.
var position = regexp.MustCompile(`\{topic:\S+ partition:(\d+)}:(-?\d+)`)

type consumer struct {
	config kafka.ReaderConfig
	reads  bool
	reader *kafka.Reader
	last   *kafka.Message

	once     sync.Once
	assigned chan map[int]int64
}

func consuming(given lines.Given) (map[string]lines.Method, error) {
	c := &consumer{assigned: make(chan map[int]int64, 1)}
	c.config = kafka.ReaderConfig{Brokers: given.Bootstrap, Topic: given.Topic, Logger: kafka.LoggerFunc(c.log)}
	for _, one := range given.Settings {
		if err := c.set(one.Name, plain(one.Value)); err != nil {
			return nil, err
		}
	}
	return map[string]lines.Method{"join": c.join, "poll": c.poll, "commit": c.commit, "close": c.close},
		c.config.Validate()
}

func (c *consumer) set(name, text string) error {
	switch name {
	case "Reads":
		c.reads = text == "ReadMessage"
		if !c.reads && text != "FetchMessage" {
			return fmt.Errorf("Reads: unknown value %s", text)
		}
		return nil
	case "GroupBalancers":
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], {}", r) }) {
			switch plain(word) {
			case "RangeGroupBalancer":
				c.config.GroupBalancers = append(c.config.GroupBalancers, kafka.RangeGroupBalancer{})
			case "RoundRobinGroupBalancer":
				c.config.GroupBalancers = append(c.config.GroupBalancers, kafka.RoundRobinGroupBalancer{})
			default:
				return fmt.Errorf("%s: unknown balancer %s", name, word)
			}
		}
		return nil
	case "ClientID":
		name = "Dialer.ClientID"
	}
	if strings.HasPrefix(name, "Dialer.") && c.config.Dialer == nil {
		dialer := *kafka.DefaultDialer
		c.config.Dialer = &dialer
	}
	return lines.Set(&c.config, name, text, constants)
}

// log takes the lines of the reader's log.
func (c *consumer) log(format string, arguments ...any) {
	found := subscribed.FindStringSubmatch(fmt.Sprintf(format, arguments...))
	if found == nil {
		return
	}
	offsets, partitions := map[int]int64{}, []int{}
	for _, one := range position.FindAllStringSubmatch(found[1], -1) {
		partition, _ := strconv.Atoi(one[1])
		offsets[partition], _ = strconv.ParseInt(one[2], 10, 64)
		partitions = append(partitions, partition)
	}
	lines.Say("rebalance", lines.Fields{"kind": "assigned", "partitions": partitions})
	c.once.Do(func() { c.assigned <- offsets })
}

func (c *consumer) join(command lines.Command) error {
	c.reader = kafka.NewReader(c.config)
	offsets := map[int]int64{c.config.Partition: kafka.FirstOffset} // the reader's start without a group
	if c.config.GroupID != "" {
		until, cancel := command.Deadline()
		defer cancel()
		select {
		case offsets = <-c.assigned:
		case <-until.Done():
			return fmt.Errorf("the group has given the consumer no assignment yet: %w", until.Err())
		}
	}
	var start any // the library does not tell the offset that FirstOffset or LastOffset stands for
	partitions := []int{}
	for partition, offset := range offsets {
		partitions = append(partitions, partition)
		if partition == 0 && offset >= 0 {
			start = offset
		}
	}
	lines.Say("assigned", lines.Fields{"partitions": partitions, "position": start})
	return nil
}

func (c *consumer) joined() error {
	if c.reader == nil {
		return errors.New("the consumer has not joined")
	}
	return nil
}

func (c *consumer) next(wait time.Duration) (kafka.Message, error) {
	until, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if c.reads {
		return c.reader.ReadMessage(until)
	}
	return c.reader.FetchMessage(until)
}

func (c *consumer) poll(command lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	wait := time.Duration(command.Number("milliseconds", 0)) * time.Millisecond
	count := int(command.Number("count", 1))
	records := []lines.Fields{}
	if count == 0 {
		time.Sleep(wait) // the library does everything by itself meanwhile
	}
	for len(records) < count && (len(records) == 0 || c.reader.Stats().QueueLength > 0) {
		message, err := c.next(wait)
		if errors.Is(err, context.DeadlineExceeded) {
			break
		} else if err != nil {
			return err
		}
		c.last = &message
		records = append(records, lines.Fields{"offset": message.Offset, "value": string(message.Value)})
		wait = aMoment
	}
	lines.Say("polled", lines.Fields{"records": records, "held": 0})
	return nil
}

func (c *consumer) commit(command lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	message := kafka.Message{Topic: c.config.Topic, Partition: 0, Offset: command.Number("offset", 0) - 1}
	if !command.Has("offset") {
		if c.last == nil {
			return errors.New("there is no record to commit")
		}
		message = *c.last
	}
	err := c.reader.CommitMessages(context.Background(), message)
	lines.Say("committed", lines.Told(err).With("offset", command["offset"]))
	return nil
}

func (c *consumer) close(lines.Command) error {
	if err := c.joined(); err != nil {
		return err
	}
	return c.reader.Close()
}
