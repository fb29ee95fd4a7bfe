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
	offsets   sync.Map // by call of send(), of what was written
}

var balancers = []string{"RoundRobin", "LeastBytes", "Hash", "ReferenceHash", "CRC32Balancer", "Murmur2Balancer"}

// sendable is the mark of a message: its call of send(), and what tells that the message got its partition.
type sendable struct {
	sent   lines.Send
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
		sent := one.WriterData.(sendable).sent
		if err == nil && p.writer.RequiredAcks != kafka.RequireNone {
			p.offsets.Store(sent, one.Offset)
		}
		if p.writer.Async {
			p.report(sent, err)
		}
	}
}

func (p *producer) report(sent lines.Send, err error) {
	offset, _ := p.offsets.LoadAndDelete(sent)
	lines.Say("report", lines.Told(err).Of(sent).With("offset", offset))
}

func (p *producer) send(command lines.Command) error {
	sent := command.Send()
	placed, done := make(chan struct{}, 1), make(chan struct{})
	message := kafka.Message{Value: []byte(sent.Value()), WriterData: sendable{sent, placed}}
	write := func() error { return p.writer.WriteMessages(context.Background(), message) }
	if p.writer.Async {
		if err := write(); err != nil {
			return err
		}
		lines.Say("sent", lines.Fields{}.Of(sent))
		return nil
	}
	go func() {
		err := write()
		lines.Say("sent", lines.Fields{}.Of(sent))
		p.report(sent, err)
		close(done)
	}()
	select { // records keep the order of the commands
	case <-placed:
	case <-done:
	}
	return nil
}

func (p *producer) close(lines.Command) error { return p.writer.Close() }
