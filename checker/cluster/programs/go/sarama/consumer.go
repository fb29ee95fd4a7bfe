package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"proofka.example/lines"
)

// source is what records come from: a claim of a group, or a partition without a group.
type source interface {
	Messages() <-chan *sarama.ConsumerMessage
}

type consumer struct {
	given  lines.Given
	config *sarama.Config
	group  string
	joined sarama.ConsumerGroup
	alone  sarama.Consumer

	lock    sync.Mutex
	changed chan struct{} // closed at each change of the fields below
	source  source
	start   int64
	session sarama.ConsumerGroupSession
	failed  error
}

func consuming(given lines.Given) (map[string]lines.Method, error) {
	c := &consumer{given: given, changed: make(chan struct{})}
	var settings []lines.Setting
	for _, one := range given.Settings {
		if one.Name == "GroupID" {
			c.group = one.Value
		} else {
			settings = append(settings, one)
		}
	}
	config, err := configured(settings)
	c.config = config
	return map[string]lines.Method{
		"join": c.join, "poll": c.poll, "commit": c.commit, "stored": c.store, "close": c.close,
	}, err
}

// update changes what a command waits for.
func (c *consumer) update(change func()) {
	c.lock.Lock()
	defer c.lock.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns once a condition holds, or with the error of the context or of the group.
func (c *consumer) await(until context.Context, holds func() bool) error {
	for {
		c.lock.Lock()
		done, failed, changed := holds(), c.failed, c.changed
		c.lock.Unlock()
		if done || failed != nil {
			return failed
		}
		select {
		case <-changed:
		case <-until.Done():
			return until.Err()
		}
	}
}

func (c *consumer) join(command lines.Command) (err error) {
	until, cancel := command.Deadline()
	defer cancel()
	if c.group == "" {
		return c.assign()
	}
	if c.joined, err = sarama.NewConsumerGroup(c.given.Bootstrap, c.group, c.config); err != nil {
		return err
	}
	go func() {
		for err := range c.joined.Errors() {
			lines.Say("error", lines.Told(err))
		}
	}()
	go c.consume()
	least := command.Number("partitions", 1)
	if err := c.await(until, func() bool { return c.session != nil && (least == 0 || c.source != nil) }); err != nil {
		return err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	member := lines.Fields{"generation": c.session.GenerationID(), "member": c.session.MemberID()}
	c.tellAssigned(c.session.Claims()[c.given.Topic], member)
	return nil
}

// consume runs a session after the other, as the documentation of ConsumerGroup tells applications to do.
func (c *consumer) consume() {
	for {
		if err := c.joined.Consume(context.Background(), []string{c.given.Topic}, c); err != nil {
			if !errors.Is(err, sarama.ErrClosedConsumerGroup) {
				lines.Say("error", lines.Told(err))
			}
			c.update(func() { c.failed = err })
			return
		}
	}
}

func (c *consumer) assign() (err error) {
	if c.alone, err = sarama.NewConsumer(c.given.Bootstrap, c.config); err != nil {
		return err
	}
	partition, err := c.alone.ConsumePartition(c.given.Topic, 0, c.config.Consumer.Offsets.Initial)
	if err != nil {
		return err
	}
	go func() {
		for err := range partition.Errors() {
			lines.Say("error", lines.Told(err))
		}
	}()
	c.update(func() { c.source, c.start = partition, c.config.Consumer.Offsets.Initial })
	c.tellAssigned([]int32{0}, nil)
	return nil
}

func (c *consumer) tellAssigned(partitions []int32, member any) {
	var position any // the library does not tell the offset that OffsetNewest or OffsetOldest stands for
	if c.source != nil && c.start >= 0 {
		position = c.start
	}
	if partitions == nil {
		partitions = []int32{}
	}
	lines.Say("assigned", lines.Fields{"partitions": partitions, "position": position, "membership": member})
}

// Setup is the begin of a session of the group.
func (c *consumer) Setup(session sarama.ConsumerGroupSession) error {
	c.update(func() { c.session = session })
	lines.Say("rebalance", lines.Fields{"kind": "assigned", "partitions": session.Claims()[c.given.Topic]})
	return nil
}

// Cleanup is the end of a session of the group.
func (c *consumer) Cleanup(session sarama.ConsumerGroupSession) error {
	c.update(func() { c.session, c.source = nil, nil })
	lines.Say("rebalance", lines.Fields{"kind": "revoked", "partitions": session.Claims()[c.given.Topic]})
	return nil
}

// ConsumeClaim offers a partition's records to "poll" until its session ends, or until sarama has no more of them:
// sarama closes the claim after an offset out of range, and the session ends once this function returns.
func (c *consumer) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	offered := make(offer)
	defer close(offered)
	if claim.Partition() == 0 {
		c.update(func() { c.source, c.start = offered, claim.InitialOffset() })
	}
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			select {
			case offered <- message:
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

// offer has the records of a claim, one after the other.
type offer chan *sarama.ConsumerMessage

func (o offer) Messages() <-chan *sarama.ConsumerMessage { return o }

func (c *consumer) poll(command lines.Command) error {
	wait := time.Duration(command.Number("milliseconds", 0)) * time.Millisecond
	until, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	records := []lines.Fields{}
	count := int(command.Number("count", 1))
	if count == 0 {
		<-until.Done() // sarama does everything by itself meanwhile
	}
	for len(records) == 0 && count > 0 {
		err := c.await(until, func() bool { return c.source != nil })
		if errors.Is(err, context.DeadlineExceeded) {
			break
		} else if err != nil {
			return err
		}
		c.lock.Lock()
		from, changed := c.source, c.changed
		c.lock.Unlock()
		if from == nil {
			continue
		}
		select {
		case message, open := <-from.Messages():
			if !open {
				c.update(func() {
					if c.source == from {
						c.source = nil
					}
				})
				continue
			}
			records = append(records, fields(message))
		case <-changed:
			continue
		case <-until.Done():
		}
		if len(records) == 0 {
			break
		}
		for len(records) < count {
			select {
			case message, open := <-from.Messages():
				if open {
					records = append(records, fields(message))
					continue
				}
			default:
			}
			break
		}
	}
	lines.Say("polled", lines.Fields{"records": records, "held": 0})
	return nil
}

func fields(message *sarama.ConsumerMessage) lines.Fields {
	return lines.Fields{"offset": message.Offset, "value": string(message.Value)}
}

func (c *consumer) current() (sarama.ConsumerGroupSession, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.session == nil {
		return nil, errors.New("the consumer has no session of a group")
	}
	return c.session, nil
}

func (c *consumer) store(command lines.Command) error {
	session, err := c.current()
	if err == nil {
		session.MarkOffset(c.given.Topic, 0, command.Number("offset", 0), "")
		lines.Say("stored", lines.Told(nil).With("offset", command["offset"]))
	}
	return err
}

func (c *consumer) commit(command lines.Command) error {
	session, err := c.current()
	if err == nil {
		if command.Has("offset") {
			session.MarkOffset(c.given.Topic, 0, command.Number("offset", 0), "")
		}
		session.Commit()
		lines.Say("committed", lines.Told(nil).With("offset", command["offset"]))
	}
	return err
}

func (c *consumer) close(lines.Command) error {
	if c.joined != nil {
		return c.joined.Close()
	}
	if c.alone != nil {
		return c.alone.Close()
	}
	return nil
}
