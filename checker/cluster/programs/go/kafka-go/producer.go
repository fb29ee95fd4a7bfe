package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go"
	"proofka.example/lines"
)

type producer struct {
	topic     string
	writer    *kafka.Writer
	transport *kafka.Transport
	offsets   sync.Map // by record, of what was written
}

var balancers = []string{"RoundRobin", "LeastBytes", "Hash", "ReferenceHash", "CRC32Balancer", "Murmur2Balancer"}

// sendable is the mark of a message: the number of its record, and what tells that it got its partition.
type sendable struct {
	record int64
	placed chan struct{}
}

func producing(given lines.Given) (map[string]lines.Method, error) {
	p := &producer{topic: given.Topic, transport: &kafka.Transport{}}
	p.writer = &kafka.Writer{
		Addr: kafka.TCP(given.Bootstrap...), Topic: given.Topic, Transport: p.transport, Completion: p.complete,
		Balancer: kafka.BalancerFunc(place),
	}
	for _, one := range given.Settings {
		if err := p.set(one.Name, plain(one.Value)); err != nil {
			return nil, err
		}
	}
	return map[string]lines.Method{"prepare": p.prepare, "send": p.send, "close": p.close}, nil
}

func (p *producer) set(name, text string) error {
	switch name {
	case "ClientID":
		name = "Transport.ClientID"
	case "IdleConnTimeout":
		name = "Transport.IdleTimeout"
	case "Compression":
		chosen, ok := compressions[text]
		if !ok {
			return fmt.Errorf("%s: unknown value %s", name, text)
		}
		p.writer.Compression = chosen
		return nil
	case "Balancer":
		if !slices.Contains(balancers, strings.TrimPrefix(strings.Trim(text, "&{}"), "kafka.")) {
			return fmt.Errorf("%s: unknown value %s", name, text)
		}
		return nil
	}
	if part, ok := strings.CutPrefix(name, "Transport."); ok {
		return lines.Set(p.transport, part, text, constants)
	}
	return lines.Set(p.writer, name, text, constants)
}

func (p *producer) prepare(command lines.Command) error {
	until, cancel := command.Deadline()
	defer cancel()
	client := &kafka.Client{Addr: p.writer.Addr, Transport: p.transport}
	answer, err := client.Metadata(until, &kafka.MetadataRequest{Topics: []string{p.topic}})
	if err != nil {
		return err
	}
	partitions := []int{}
	for _, topic := range answer.Topics {
		if topic.Error != nil {
			return topic.Error
		}
		for _, one := range topic.Partitions {
			if one.Error != nil {
				return one.Error
			}
			partitions = append(partitions, one.ID)
		}
	}
	lines.Say("prepared", lines.Fields{"partitions": partitions})
	return nil
}

// place chooses partition 0, immediately before the library puts a message into a batch.
func place(message kafka.Message, _ ...int) int {
	message.WriterData.(sendable).placed <- struct{}{}
	return 0
}

// complete is the writer's callback for a batch.
func (p *producer) complete(messages []kafka.Message, err error) {
	for _, one := range messages {
		record := one.WriterData.(sendable).record
		if err == nil && p.writer.RequiredAcks != kafka.RequireNone {
			p.offsets.Store(record, one.Offset)
		}
		if p.writer.Async {
			p.report(record, err)
		}
	}
}

func (p *producer) report(record int64, err error) {
	offset, _ := p.offsets.LoadAndDelete(record)
	lines.Say("report", lines.Told(err).With("record", record).With("offset", offset))
}

func (p *producer) send(command lines.Command) error {
	record := command.Number("record", 0)
	placed, done := make(chan struct{}, 1), make(chan struct{})
	message := kafka.Message{Value: []byte(fmt.Sprintf("record-%d", record)), WriterData: sendable{record, placed}}
	write := func() error { return p.writer.WriteMessages(context.Background(), message) }
	if p.writer.Async {
		if err := write(); err != nil {
			return err
		}
		lines.Say("sent", lines.Fields{"record": record})
		return nil
	}
	go func() {
		err := write()
		lines.Say("sent", lines.Fields{"record": record})
		p.report(record, err)
		close(done)
	}()
	select { // records keep the order of the commands
	case <-placed:
	case <-done:
	}
	return nil
}

func (p *producer) close(lines.Command) error { return p.writer.Close() }
