package main

import (
	"errors"
	"sync"

	"github.com/IBM/sarama"
	"proofka.example/lines"
)

type producer struct {
	given    lines.Given
	config   *sarama.Config
	client   sarama.Client
	producer sarama.AsyncProducer
	reports  sync.WaitGroup
}

func producing(given lines.Given) (map[string]lines.Method, error) {
	config, err := configured(given.Settings)
	if err != nil {
		return nil, err
	}
	p := &producer{given: given, config: config}
	return map[string]lines.Method{
		"prepare": p.prepare, "send": p.send, "init": p.init,
		"begin":        p.tells("begun", func() error { return p.producer.BeginTxn() }),
		"commit":       p.tells("committed", func() error { return p.producer.CommitTxn() }),
		"abort":        p.tells("aborted", func() error { return p.producer.AbortTxn() }),
		"send_offsets": p.sendOffsets,
		"close":        p.close,
	}, nil
}

func (p *producer) start() (err error) {
	if p.client == nil {
		if p.client, err = sarama.NewClient(p.given.Bootstrap, p.config); err != nil {
			p.client = nil
			return err
		}
	}
	if p.producer != nil {
		return nil
	}
	made, err := sarama.NewAsyncProducerFromClient(p.client)
	if err != nil {
		return err
	}
	p.producer = made
	p.reports.Add(2)
	go func() {
		defer p.reports.Done()
		for one := range made.Successes() {
			report(one, nil)
		}
	}()
	go func() {
		defer p.reports.Done()
		for one := range made.Errors() {
			report(one.Msg, one.Err)
		}
	}()
	return nil
}

func report(message *sarama.ProducerMessage, err error) {
	var offset any
	if err == nil && message.Offset >= 0 {
		offset = message.Offset
	}
	lines.Say("report", lines.Told(err).Of(message.Metadata.(lines.Send)).With("offset", offset))
}

func (p *producer) prepare(command lines.Command) error {
	if err := p.start(); err != nil {
		return err
	}
	if err := p.client.RefreshMetadata(p.given.Topic); err != nil {
		return err
	}
	if _, err := p.client.Leader(p.given.Topic, 0); err != nil {
		return err
	}
	partitions, err := p.client.Partitions(p.given.Topic)
	if err == nil {
		lines.Say("prepared", lines.Fields{"partitions": partitions})
	}
	return err
}

func (p *producer) init(lines.Command) error {
	lines.Say("initialised", lines.Told(p.start()))
	return nil
}

func (p *producer) started() error {
	if p.producer == nil {
		return errors.New("the producer has not started: prepare it, or initialise it, before")
	}
	return nil
}

func (p *producer) send(command lines.Command) error {
	if err := p.started(); err != nil {
		return err
	}
	sent := command.Send()
	p.producer.Input() <- &sarama.ProducerMessage{
		Topic: p.given.Topic, Partition: 0, Metadata: sent,
		Value: sarama.StringEncoder(sent.Value()),
	}
	lines.Say("sent", lines.Fields{}.Of(sent))
	return nil
}

func (p *producer) tells(event string, call func() error) lines.Method {
	return func(lines.Command) error {
		if err := p.started(); err != nil {
			return err
		}
		lines.Say(event, lines.Told(call()))
		return nil
	}
}

func (p *producer) sendOffsets(command lines.Command) error {
	offset := &sarama.PartitionOffsetMetadata{Partition: int32(command.Number("partition", 0)), Offset: command.Number("offset", 0)}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{command.Text("topic", p.given.Topic): {offset}}
	return p.tells("offsets_sent", func() error {
		return p.producer.AddOffsetsToTxn(offsets, command.Text("group", ""))
	})(command)
}

func (p *producer) close(lines.Command) error {
	if p.producer != nil {
		p.producer.AsyncClose()
		p.reports.Wait()
	}
	if p.client != nil {
		return p.client.Close()
	}
	return nil
}
