// A producer or consumer of sarama, driven by the line protocol. Settings are the paths of fields of sarama.Config.
//
// Producer: an AsyncProducer. "prepare" makes the client and the producer: sarama fetches metadata, and the producer id
// of an idempotent or transactional producer, in these calls. "init" does the same where there was no "prepare". "sent"
// follows when the channel Input() took the record, and "report" comes from the channels Successes() and Errors(), so
// only if Producer.Return.Successes or Producer.Return.Errors is true. Records go to partition 0, whatever
// Producer.Partitioner is.
//
// Consumer: with the setting GroupID, "join" makes a ConsumerGroup and calls Consume, again after each rebalance; without
// it, "join" makes a PartitionConsumer. "poll" takes records from the claim's channel: the first when it is there, then
// what is at hand, at most "count". sarama fetches ahead into the channel; a record that nobody marked does not change
// what it commits. "stored" marks an offset, which automatic commits then use. "commit" marks an offset and commits; the
// library returns no error there, but sends it to Errors(), which become events "error" if Consumer.Return.Errors is
// true.
package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/IBM/sarama"
	"proofka.example/lines"
)

var constants = map[string]int64{
	"NoResponse": int64(sarama.NoResponse), "WaitForLocal": int64(sarama.WaitForLocal),
	"WaitForAll":   int64(sarama.WaitForAll),
	"all":          int64(sarama.WaitForAll),
	"OffsetNewest": sarama.OffsetNewest, "OffsetOldest": sarama.OffsetOldest,
	"ReadUncommitted": int64(sarama.ReadUncommitted), "ReadCommitted": int64(sarama.ReadCommitted),
}

var strategies = map[string]func() sarama.BalanceStrategy{
	"range": sarama.NewBalanceStrategyRange, "NewBalanceStrategyRange": sarama.NewBalanceStrategyRange,
	"BalanceStrategyRange": sarama.NewBalanceStrategyRange,
	"roundrobin":           sarama.NewBalanceStrategyRoundRobin, "BalanceStrategyRoundRobin": sarama.NewBalanceStrategyRoundRobin,
	"NewBalanceStrategyRoundRobin": sarama.NewBalanceStrategyRoundRobin,
	"sticky":                       sarama.NewBalanceStrategySticky, "BalanceStrategySticky": sarama.NewBalanceStrategySticky,
	"NewBalanceStrategySticky": sarama.NewBalanceStrategySticky,
}

var partitioners = []string{
	"NewHashPartitioner", "NewRandomPartitioner", "NewRoundRobinPartitioner", "NewManualPartitioner",
	"NewReferenceHashPartitioner", "NewConsistentCRCHashPartitioner",
}

func configured(settings []lines.Setting) (*sarama.Config, error) {
	config := sarama.NewConfig()
	for _, one := range settings {
		text := strings.TrimSuffix(strings.ReplaceAll(one.Value, "sarama.", ""), "()")
		if err := set(config, one.Name, text); err != nil {
			return nil, err
		}
	}
	config.Producer.Partitioner = sarama.NewManualPartitioner
	return config, config.Validate()
}

func set(config *sarama.Config, name, text string) (err error) {
	switch name {
	case "Version":
		version := strings.ReplaceAll(strings.TrimPrefix(text, "V"), "_", ".")
		if strings.Count(version, ".") == 3 && !strings.HasPrefix(version, "0.") {
			version = strings.TrimSuffix(version, ".0") // the constant V2_8_0_0 is 2.8.0
		}
		config.Version, err = sarama.ParseKafkaVersion(version)
		return err
	case "Producer.Compression":
		text = strings.ToLower(strings.TrimPrefix(text, "Compression"))
		return config.Producer.Compression.UnmarshalText([]byte(text))
	case "Producer.Partitioner":
		for _, known := range partitioners {
			if text == known {
				return nil
			}
		}
		return fmt.Errorf("%s: unknown partitioner %s", name, text)
	case "Consumer.Group.Rebalance.Strategy", "Consumer.Group.Rebalance.GroupStrategies":
		var chosen []sarama.BalanceStrategy
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], (){}", r) }) {
			maker, ok := strategies[word]
			if !ok {
				return fmt.Errorf("%s: unknown strategy %s", name, word)
			}
			chosen = append(chosen, maker())
		}
		config.Consumer.Group.Rebalance.GroupStrategies = chosen
		return nil
	default:
		return lines.Set(config, name, text, constants)
	}
}

func code(err error) string {
	var known sarama.KError
	if errors.As(err, &known) {
		return fmt.Sprintf("KError %d", int16(known))
	}
	return fmt.Sprintf("%T", err)
}

func main() {
	lines.Code = code
	lines.Start("github.com/IBM/sarama", producing, consuming)
}
