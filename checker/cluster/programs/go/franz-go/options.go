package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"proofka.example/lines"
)

// option makes an option of kgo from a text; nil where the text asks for the default.
type option func(text string) (kgo.Opt, error)

// optIn is the key in a client's context that chooses the consumer group protocol.
const optIn = "opt_in_kafka_next_gen_balancer_beta"

var options = map[string]option{
	"ClientID":                            text(kgo.ClientID),
	"RequiredAcks":                        named(kgo.RequiredAcks, map[string]kgo.Acks{"AllISRAcks": kgo.AllISRAcks(), "all": kgo.AllISRAcks(), "LeaderAck": kgo.LeaderAck(), "NoAck": kgo.NoAck()}),
	"DisableIdempotentWrite":              flag(kgo.DisableIdempotentWrite),
	"MaxProduceRequestsInflightPerBroker": number(kgo.MaxProduceRequestsInflightPerBroker),
	"RecordRetries":                       number(kgo.RecordRetries),
	"RecordDeliveryTimeout":               duration(kgo.RecordDeliveryTimeout),
	"ProduceRequestTimeout":               duration(kgo.ProduceRequestTimeout),
	"RequestTimeoutOverhead":              duration(kgo.RequestTimeoutOverhead),
	"UnknownTopicRetries":                 number(kgo.UnknownTopicRetries),
	"ProducerLinger":                      duration(kgo.ProducerLinger),
	"MaxBufferedRecords":                  number(kgo.MaxBufferedRecords),
	"MaxBufferedBytes":                    number(kgo.MaxBufferedBytes),
	"ManualFlushing":                      flag(kgo.ManualFlushing),
	"ProducerBatchMaxBytes":               number(kgo.ProducerBatchMaxBytes),
	"ProducerBatchCompression":            named(func(codec kgo.CompressionCodec) kgo.ProducerOpt { return kgo.ProducerBatchCompression(codec) }, codecs),
	"RecordPartitioner":                   named(func(string) kgo.Opt { return nil }, partitioners),
	"AllowAutoTopicCreation":              flag(kgo.AllowAutoTopicCreation),
	"TransactionalID":                     text(kgo.TransactionalID),
	"TransactionTimeout":                  duration(kgo.TransactionTimeout),
	"StopProducerOnDataLossDetected":      flag(kgo.StopProducerOnDataLossDetected),
	"AllowIdempotentProduceCancellation":  flag(kgo.AllowIdempotentProduceCancellation),
	"RequestRetries":                      number(kgo.RequestRetries),
	"DialTimeout":                         duration(kgo.DialTimeout),
	"ConnIdleTimeout":                     duration(kgo.ConnIdleTimeout),
	"MetadataMinAge":                      duration(kgo.MetadataMinAge),
	"MetadataMaxAge":                      duration(kgo.MetadataMaxAge),
	"ConsumerGroup":                       text(kgo.ConsumerGroup),
	"ConsumeStartOffset":                  named(kgo.ConsumeStartOffset, offsets),
	"ConsumeResetOffset":                  named(kgo.ConsumeResetOffset, offsets),
	"DisableAutoCommit":                   flag(kgo.DisableAutoCommit),
	"GreedyAutoCommit":                    flag(kgo.GreedyAutoCommit),
	"AutoCommitMarks":                     flag(kgo.AutoCommitMarks),
	"AutoCommitInterval":                  duration(kgo.AutoCommitInterval),
	"FetchIsolationLevel":                 named(kgo.FetchIsolationLevel, map[string]kgo.IsolationLevel{"ReadUncommitted": kgo.ReadUncommitted(), "ReadCommitted": kgo.ReadCommitted()}),
	"FetchMaxWait":                        duration(kgo.FetchMaxWait),
	"FetchMinBytes":                       number(kgo.FetchMinBytes),
	"FetchMaxBytes":                       number(kgo.FetchMaxBytes),
	"FetchMaxPartitionBytes":              number(kgo.FetchMaxPartitionBytes),
	"MaxConcurrentFetches":                number(kgo.MaxConcurrentFetches),
	"SessionTimeout":                      duration(kgo.SessionTimeout),
	"HeartbeatInterval":                   duration(kgo.HeartbeatInterval),
	"RebalanceTimeout":                    duration(kgo.RebalanceTimeout),
	"InstanceID":                          text(kgo.InstanceID),
	"Balancers":                           balancing,
	"BlockRebalanceOnPoll":                flag(kgo.BlockRebalanceOnPoll),
	"Rack":                                text(kgo.Rack),
	"DisableFetchCRCValidation":           flag(kgo.DisableFetchCRCValidation),
	optIn: flag(func() kgo.Opt {
		return kgo.WithContext(context.WithValue(context.Background(), optIn, true)) //nolint:staticcheck // the library's key
	}),
}

var codecs = map[string]kgo.CompressionCodec{
	"NoCompression": kgo.NoCompression(), "GzipCompression": kgo.GzipCompression(), "SnappyCompression": kgo.SnappyCompression(),
	"Lz4Compression": kgo.Lz4Compression(), "ZstdCompression": kgo.ZstdCompression(),
}

var partitioners = map[string]string{
	"UniformBytesPartitioner": "", "StickyKeyPartitioner": "", "StickyPartitioner": "", "ManualPartitioner": "",
	"RoundRobinPartitioner": "", "LeastBackupPartitioner": "",
}

var offsets = map[string]kgo.Offset{
	"AtStart": kgo.NewOffset().AtStart(), "AtEnd": kgo.NewOffset().AtEnd(), "AtCommitted": kgo.NewOffset().AtCommitted(),
	"NewOffset.AtStart": kgo.NewOffset().AtStart(), "NewOffset.AtEnd": kgo.NewOffset().AtEnd(),
	"NewOffset.AtCommitted": kgo.NewOffset().AtCommitted(), "NoResetOffset": kgo.NoResetOffset(),
}

var balancers = map[string]func() kgo.GroupBalancer{
	"CooperativeStickyBalancer": kgo.CooperativeStickyBalancer, "StickyBalancer": kgo.StickyBalancer,
	"RangeBalancer": kgo.RangeBalancer, "RoundRobinBalancer": kgo.RoundRobinBalancer,
}

// configured returns the options of a client, and the values of its settings by name.
func configured(given lines.Given) ([]kgo.Opt, map[string]string, error) {
	values := map[string]string{}
	made := []kgo.Opt{kgo.SeedBrokers(given.Bootstrap...), kgo.RecordPartitioner(kgo.ManualPartitioner())}
	for _, one := range given.Settings {
		makes, ok := options[one.Name]
		if !ok {
			return nil, nil, fmt.Errorf("unknown setting %s", one.Name)
		}
		opt, err := makes(one.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", one.Name, err)
		}
		if opt != nil {
			made = append(made, opt)
			values[one.Name] = one.Value
		}
	}
	return made, values, kgo.ValidateOpts(made...)
}

func text[O kgo.Opt](function func(string) O) option {
	return func(text string) (kgo.Opt, error) { return function(text), nil }
}

func flag[O kgo.Opt](function func() O) option {
	return func(text string) (kgo.Opt, error) {
		truth, err := strconv.ParseBool(text)
		if err != nil || !truth {
			return nil, err
		}
		return function(), nil
	}
}

func number[N int | int32, O kgo.Opt](function func(N) O) option {
	return func(text string) (kgo.Opt, error) {
		number, err := strconv.ParseInt(text, 10, 64)
		if err == nil && int64(N(number)) != number {
			err = fmt.Errorf("%s is too large", text)
		}
		return function(N(number)), err
	}
}

func duration[O kgo.Opt](function func(time.Duration) O) option {
	return func(text string) (kgo.Opt, error) {
		duration, err := lines.Duration(text)
		return function(duration), err
	}
}

func named[V any, O kgo.Opt](function func(V) O, values map[string]V) option {
	return func(text string) (kgo.Opt, error) {
		value, ok := values[plain(text)]
		if !ok {
			return nil, fmt.Errorf("unknown value %s", text)
		}
		return function(value), nil
	}
}

func plain(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "kgo.", ""), "()", "")
}

func balancing(text string) (kgo.Opt, error) {
	var chosen []kgo.GroupBalancer
	for _, word := range strings.FieldsFunc(plain(text), func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
		makes, ok := balancers[word]
		if !ok {
			return nil, fmt.Errorf("unknown balancer %s", word)
		}
		chosen = append(chosen, makes())
	}
	return kgo.Balancers(chosen...), nil
}
