internal import DBus
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// The link to the daemon and all that uses it, on the client's thread; everyone else posts letters.
final class Worker {
  typealias Letters = Mailbox<@Sendable (Worker) -> Void>

  /// How many errors are known: a text may quote a value.
  private static let mostReported = 256

  let link: Link
  let writes: WriteQueue
  let fields: FieldPublisher
  let owners: Owners
  private let export: FieldExport
  private let mirror: Mirror
  private let cache: FocusedCache
  private let letters: Letters
  private let reporter: ErrorReporter
  private let bus: Connection.Bus
  private var reported: Set<FocusError> = []

  init(_ bus: Connection.Bus, _ cache: FocusedCache, _ letters: Letters, _ reporter: ErrorReporter) {
    self.bus = bus
    self.cache = cache
    self.letters = letters
    self.reporter = reporter
    let link = Link(on: EventLoop(), rules: Mirror.rules(for: Focus1.focused, followsFocus: true))
    let fields = FieldPublisher(link)
    self.link = link
    self.fields = fields
    owners = Owners(link.loop, letters, reporter)
    export = FieldExport(letters, owners)
    let writes = WriteQueue(link, cache, reporter)
    self.writes = writes
    mirror = Mirror(Focus1.focused, on: link, followsFocus: true) { [weak fields] event in
      if case .focusedField(let path) = event { fields?.focusMoved(to: path) } else { cache.take(event) }
      if case .focusMoved = event { writes.focusMoved() }
      // Whoever learns that the client is connected finds its values.
      cache.status.take(event)
    }
    fields.onError = { reporter.report(FocusError($0)) }
    link.onEvent = { [weak self] in self?.handle($0) }
  }

  func run() {
    // First in each turn of the loop: what the program did before a call was sent is done before the call is answered.
    letters.deliver(on: link.loop) { [weak self] letter in
      if let self { letter(self) }
    }
    // Without a bus this thread could only refuse the calls that wait.
    link.connect(to: bus, patience: .seconds(25))
    link.loop.run()
    link.stop()
    letters.close()
    link.loop.close()
  }

  /// Publishes a field, and its values for the whole scene; once more if it was refused.
  func add(_ definition: FieldDefinition) {
    if fields.isRefused(definition.number) { remove(definition.number) }
    guard !fields.contains(definition.number) else { return }
    for description in export.descriptions(of: definition) { fields.add(description) }
  }

  /// Publishes more of a field that was added.
  func publish(_ publications: [Publication], toScene: Bool, of definition: FieldDefinition) {
    guard fields.contains(definition.number) else { return }
    export.publish(publications, toScene: toScene, of: definition, fields)
  }

  /// Joins a field that was added to a focus state.
  func join(_ focus: FieldDefinition.Focus, number: UInt64) { export.join(focus, number: number, fields) }

  /// Takes a field away; `isLetGo` if the program did not ask for it.
  func remove(_ number: UInt64, isLetGo: Bool = false) {
    export.end(number)
    fields.remove(group: number, isLetGo: isLetGo)
  }

  func stop() { link.loop.stop() }

  func report(_ error: FocusError) { reporter.report(error) }

  /// Reports what stays as it is while the program runs.
  func reportOnce(_ error: FocusError) {
    if reported.count >= Self.mostReported { reported = [] }
    if reported.insert(error).inserted { report(error) }
  }

  private func handle(_ event: Link.Event) {
    switch event {
    case .arrived:
      cache.focusIsUnknown()
      mirror.begin()
      fields.registerAll()
    case .left:
      cache.focusIsUnknown()
      mirror.end()
      fields.daemonLeft()
    case .signal(let signal): mirror.received(signal)
    case .call(let message): fields.called(message)
    case .refused(let error): report(FocusError(error))
    case .other, .closed: break
    }
  }
}

extension Link {
  /// Calls the daemon, and hands its reply, or what prevented one, to `handler`.
  func ask<Reply>(_ call: DaemonCall<Reply>, _ handler: @escaping (Result<Reply, FocusError>) -> Void) {
    self.call(call) { handler($0.mapError { FocusError($0) }) }
  }
}
