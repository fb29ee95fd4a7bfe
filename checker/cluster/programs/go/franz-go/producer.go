package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"proofka.example/lines"
)

// nowhere is a partition that no topic has.
const nowhere = -1

type producer struct {
	topic         string
	client        *kgo.Client
	transactional bool
	idempotent    bool
}

func producing(given lines.Given) (map[string]lines.Method, error) {
	options, values, err := configured(given)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	_, transactional := values["TransactionalID"]
	_, plain := values["DisableIdempotentWrite"]
	p := &producer{given.Topic, client, transactional, !plain}
	return map[string]lines.Method{
		"prepare": p.prepare, "send": p.send, "init": p.init, "begin": p.begin,
		"commit": p.ends("committed", kgo.TryCommit), "abort": p.ends("aborted", kgo.TryAbort), "close": p.close,
	}, nil
}

func (p *producer) prepare(command lines.Command) error {
	if p.transactional {
		lines.Say("prepared", lines.Fields{"metadata": false})
		return nil
	}
	until, cancel := command.Deadline()
	defer cancel()
	refused := make(chan error, 1)
	probe := &kgo.Record{Topic: p.topic, Partition: nowhere}
	p.client.Produce(until, probe, func(_ *kgo.Record, err error) { refused <- err })
	if err := <-refused; err == nil {
		return errors.New("a record for a partition that cannot exist was written")
	} else if leader, _, unknown := p.client.PartitionLeader(p.topic, 0); unknown != nil {
		return unknown
	} else if leader < 0 {
		return fmt.Errorf("partition 0 has no leader: %w", err)
	}
	var id any
	if p.idempotent {
		loaded, _, err := p.client.ProducerID(until)
		if err != nil {
			return err
		}
		id = loaded
	}
	lines.Say("prepared", lines.Fields{"partitions": []int32{0}, "producer_id": id})
	return nil
}

func (p *producer) send(command lines.Command) error {
	sent := command.Send()
	record := &kgo.Record{Topic: p.topic, Partition: 0, Value: []byte(sent.Value())}
	p.client.Produce(context.Background(), record, func(written *kgo.Record, err error) {
		var offset any
		if err == nil && written.Offset >= 0 {
			offset = written.Offset
		}
		lines.Say("report", lines.Told(err).Of(sent).With("offset", offset))
	})
	lines.Say("sent", lines.Fields{}.Of(sent))
	return nil
}

func (p *producer) init(command lines.Command) error {
	until, cancel := command.Deadline()
	defer cancel()
	id, epoch, err := p.client.ProducerID(until)
	lines.Say("initialised", lines.Told(err).With("producer_id", id).With("producer_epoch", epoch))
	return nil
}

func (p *producer) begin(lines.Command) error {
	lines.Say("begun", lines.Told(p.client.BeginTransaction()))
	return nil
}

func (p *producer) ends(event string, how kgo.TransactionEndTry) lines.Method {
	return func(lines.Command) error {
		lines.Say(event, lines.Told(p.client.EndTransaction(context.Background(), how)))
		return nil
	}
}

func (p *producer) close(lines.Command) error {
	err := p.client.Flush(context.Background()) // Close fails the records that it finds in the buffer
	p.client.Close()
	return err
}
