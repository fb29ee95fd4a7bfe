// A producer or consumer of KafkaJS, driven by the line protocol. Settings are the options of new Kafka() ("client.retry"
// for its retries), producer(), consumer(), send(), subscribe() and run().
//
// Producer: "prepare" calls connect(), in which the library gets the producer id of an idempotent producer, and send()
// without a message, in which it fetches the topic's metadata; no record is written. "send" calls send() and does not wait: "sent" follows at once, and "report" tells how its promise ended.
// "init" connects; the library gets a transactional producer id in the first transaction(), which "begin" calls. Each
// transaction is an object of the library, which "send", "send_offsets", "commit" and "abort" use.
//
// Consumer: "join" calls connect(), subscribe() and run() with a function for each message. "poll" gives one record,
// whatever "count" is, unless it is 0; its function ends, and so the record is processed for the library, with the next "poll" or
// "close". The library calls the function for the next record only then. Between commands the function calls
// heartbeat(), without which the group would lose the consumer. Automatic commits happen where the library does them:
// between two records and after a fetched batch. "commit" needs an offset. The library tells no position.

'use strict'

const { Kafka, logLevel } = require('kafkajs')
const { version } = require('kafkajs/package.json')
const { say, start, thrown, told, within } = require('./lines')
const { options } = require('./settings')

const toStandardError = () => (entry) => process.stderr.write(`${JSON.stringify(entry)}\n`)

function kafka(given, calls) {
  return new Kafka({ logLevel: logLevel.INFO, ...calls.client, brokers: given.bootstrap, logCreator: toStandardError })
}

function producing(given) {
  const calls = options('producer', given.settings)
  const producer = kafka(given, calls).producer(calls.producer)
  let transaction = null
  let connected = false

  async function connect() {
    if (!connected) await producer.connect()
    connected = true
  }

  async function end(event, how) {
    const ended = transaction
    if (ended === null) throw new Error('there is no transaction')
    const outcome = await thrown(() => ended[how]())
    if (outcome.error === null) transaction = null
    say(event, outcome)
  }

  function report(sent, results, error) {
    const offset = results?.[0]?.baseOffset
    const known = offset !== undefined && Number(offset) >= 0 ? Number(offset) : null
    say('report', { ...sent, offset: known, ...told(error) })
  }

  return {
    async prepare(command) {
      await within(command, connect(), 'a connection')
      await within(command, producer.send({ ...calls.send, topic: given.topic, messages: [] }), 'metadata')
      say('prepared')
    },
    async send({ record, attempt = 1 }) {
      const sent = { record, attempt } // checker/cluster/sends.py reads the value
      const value = attempt > 1 ? `record-${record}-send-${attempt}` : `record-${record}`
      const messages = [{ partition: 0, value }]
      const sender = transaction ?? producer
      const sending = sender.send({ ...calls.send, topic: given.topic, messages })
      say('sent', sent)
      sending.then(
        (results) => report(sent, results, null),
        (error) => report(sent, null, error),
      )
    },
    async init(command) {
      say('initialised', await thrown(() => within(command, connect(), 'a connection')))
    },
    async begin() {
      const outcome = await thrown(async () => {
        transaction = await producer.transaction()
      })
      say('begun', outcome)
    },
    commit: () => end('committed', 'commit'),
    abort: () => end('aborted', 'abort'),
    async send_offsets({ group, offset, topic = given.topic, partition = 0 }) {
      if (transaction === null) throw new Error('there is no transaction')
      const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }]
      say('offsets_sent', await thrown(() => transaction.sendOffsets({ consumerGroupId: group, topics })))
    },
    close: () => producer.disconnect(),
  }
}

function consuming(given) {
  const calls = options('consumer', given.settings)
  const consumer = kafka(given, calls).consumer(calls.consumer)
  let arrived = null // { record, take, leave } of a message that waits for "poll"
  let finish = null // ends the function of the record that "poll" gave
  let wake = () => {}

  /** Waits for a promise of a command, with heartbeats. An error of a heartbeat, such as a rebalance, ends the wait. */
  async function whileBeating(promise, heartbeat) {
    let done = false
    promise.finally(() => (done = true)).catch(() => {})
    while (!done) {
      await Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 100))])
      if (!done) await heartbeat()
    }
    return promise
  }

  async function eachMessage({ partition, message, heartbeat }) {
    const record = { offset: Number(message.offset), value: String(message.value) }
    const given = new Promise((take, leave) => (arrived = { partition, record, take, leave }))
    wake()
    const own = arrived
    try {
      await whileBeating(given, heartbeat)
    } finally {
      if (arrived === own) arrived = null
    }
    await whileBeating(new Promise((resolve) => (finish = resolve)), heartbeat)
  }

  return {
    async join(command) {
      const least = command.partitions ?? 1
      const joined = new Promise((resolve) => {
        consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
          const partitions = payload.memberAssignment[given.topic] ?? []
          say('rebalance', { kind: 'assigned', partitions })
          if (partitions.length >= least) resolve({ partitions, member: payload.memberId })
        })
      })
      consumer.on(consumer.events.REBALANCING, () => say('rebalance', { kind: 'revoked', partitions: [] }))
      consumer.on(consumer.events.CRASH, ({ payload }) => say('error', told(payload.error)))
      await within(command, consumer.connect(), 'a connection')
      await consumer.subscribe({ ...calls.subscribe, topics: [given.topic] })
      await consumer.run({ ...calls.run, eachMessage })
      const { partitions, member } = await within(command, joined, 'an assignment')
      say('assigned', { partitions, position: null, membership: { member } })
    },
    async poll({ count, milliseconds }) {
      finish?.()
      finish = null
      if (count === 0) {
        await new Promise((resolve) => setTimeout(resolve, milliseconds))
        say('polled', { records: [], held: 0 })
        return
      }
      let timer
      await Promise.race([
        new Promise((resolve) => {
          wake = resolve
          if (arrived !== null) resolve()
        }),
        new Promise((resolve) => (timer = setTimeout(resolve, milliseconds))),
      ])
      clearTimeout(timer)
      const records = arrived === null ? [] : [arrived.record]
      arrived?.take()
      arrived = null
      say('polled', { records, held: 0 })
    },
    async commit({ offset }) {
      if (offset === undefined) throw new Error('this library commits only an offset that the application names')
      const offsets = [{ topic: given.topic, partition: 0, offset: String(offset) }]
      say('committed', { offset, ...(await thrown(() => consumer.commitOffsets(offsets))) })
    },
    async close() {
      finish?.()
      arrived?.leave(new Error('the consumer closes before the record was processed'))
      await consumer.disconnect()
    },
  }
}

start(version, { producer: producing, consumer: consuming })
