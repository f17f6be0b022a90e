import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract
import Glibc

/// Shows the values of one object of the daemon as they change, across the daemon's restarts.
final class Watcher {
  /// Called with each set of changes that belong together.
  typealias Handler = ([WatchState.Change]) throws(CommandError) -> Void

  /// What to watch.
  enum Subject {
    case values
    /// Values, and the fields that they are from.
    case valuesAndFields
    /// Which field has focus, as the value of the key `focus`.
    case focus
  }

  private let daemon: DaemonConnection
  private let subject: Subject
  private let path: ObjectPath
  private let link: Link
  private var mirror: Mirror?
  private(set) var state: WatchState
  /// Whether people are told which key they may have meant.
  var suggests = false
  private let handler: Handler
  private var end: CommandError?
  /// How often it was asked which fields values are from; the newest question for each key, and the newest that is answered.
  private var questions = 0
  private var newest: [String: Int] = [:]
  private var answered: [String: Int] = [:]
  /// The last question that came before everything was read.
  private var voided = 0
  private var reader: DescriptorSource?

  init(
    _ daemon: DaemonConnection, _ path: ObjectPath, _ requests: [KeyArgument], for subject: Subject = .values,
    _ handler: @escaping Handler
  ) {
    self.subject = subject
    self.daemon = daemon
    self.path = path
    self.handler = handler
    state = WatchState(requests)
    link = Link(on: EventLoop(), rules: Mirror.rules(for: path, followsFocus: subject != .values))
  }

  var loop: EventLoop { link.loop }

  /// Calls the handler with the state now and with each change, until that throws or the bus is gone.
  /// - Throws: `CommandError`: what the handler threw, or status 3.
  func run() throws(CommandError) {
    let mirror = Mirror(path, on: link, followsFocus: subject != .values) { [weak self] in self?.handle($0) }
    self.mirror = mirror
    link.onEvent = { [weak self, weak mirror] event in
      switch event {
      case .arrived: mirror?.begin()
      case .left: mirror?.end()
      case .signal(let signal): mirror?.received(signal)
      case .refused(let error): self?.stop(CommandError(error))
      case .closed: self?.stop(CommandError(.noDaemon, "lost the connection to the bus"))
      case .other, .call: break
      }
    }
    do { try link.open(daemon) } catch { throw CommandError(error) }
    while end == nil { loop.turn() }
    link.stop()
    if let end { throw end }
  }

  /// Ends with status 0 when the reader closes standard output.
  func endWithReader() {
    reader = DescriptorSource(STDOUT_FILENO, .hangup, on: loop) { [weak self] in
      self?.reader?.cancel()
      self?.stop(CommandError(.done))
    }
  }

  /// Ends with `error` when `limit` has passed.
  func end(after limit: Duration, _ error: CommandError) {
    loop.schedule(after: limit) { [weak self] in self?.stop(error) }
  }

  /// Ends with `error`.
  func stop(_ error: CommandError) { end = end ?? error }

  private func handle(_ event: Mirror.Event) {
    guard end == nil else { return }
    switch (event, subject) {
    case (.focusedField(let field), .focus):
      let id = field.map { DBusValue.string(FieldID.id($0)) }
      show(state.replace(with: id.map { ["focus": $0] } ?? [:]))
    case (.ended, _): show(state.replace(with: [:]))
    case (.failed(let error), _): failed(error)
    case (_, .focus): break
    case (.values(let values), _):
      begin(with: values.mapValues(\.value), of: values.compactMapValues { $0.origin.map { FieldID.id($0.field) } })
      if subject == .valuesAndFields { askFields([], values.filter { $0.value.origin == nil }.map(\.key)) }
    case (.changed(let changes), .values): show(state.apply(changes))
    case (.changed(let changes), .valuesAndFields): askFields(changes)
    case (.focusMoved, .valuesAndFields): askFields([], state.keys)
    case (.commands, _), (.focusMoved, _), (.focusedField, _): break
    }
  }

  /// Shows `changes` with the fields that they are from, and `others` if these are from another field now.
  private func askFields(_ changes: [(key: String, value: DBusValue?)], _ others: [String] = []) {
    let changes = changes.filter { state.watches($0.key) }
    let keys = changes.map(\.key) + others.filter(state.watches)
    guard !keys.isEmpty else { return }
    questions += 1
    for key in keys { newest[key] = questions }
    mirror?.read(keys) { [weak self, question = questions] in self?.show($0, changes, question) }
  }

  /// Shows `changes` as far as their keys are read, and then what these are now if nothing newer is asked for.
  private func show(
    _ readings: [Mirror.Reading], _ changes: [(key: String, value: DBusValue?)], _ question: Int
  ) {
    guard end == nil, state.hasBegun else { return }
    // What was asked later may be answered first.
    let readings = readings.filter { question > answered[$0.key] ?? voided }
    let fields = readings.reduce(into: [String: String]()) { fields, reading in
      answered[reading.key] = question
      if case .success(let found?) = reading.result { fields[reading.key] = FieldID.id(found.origin.field) }
    }
    let keys = Set(readings.map(\.key))
    show(state.apply(changes.filter { keys.contains($0.key) }, of: fields))
    let now = readings.compactMap { (key, result) -> (key: String, value: DBusValue?)? in
      guard newest[key] == question, case .success(let reading) = result else { return nil }
      return (key, reading?.value)
    }
    show(state.apply(now, of: fields))
  }

  private func begin(with values: [String: DBusValue], of fields: [String: String]) {
    let isFirst = !state.hasBegun
    (voided, answered, newest) = (questions, [:], [:])
    let changes = state.replace(with: values, of: subject == .valuesAndFields ? fields : [:])
    // Later, a short key that several keys end with is nil: a status bar must survive that.
    if isFirst {
      do { try state.requireUnambiguous() } catch { return stop(error) }
      if suggests { suggest(for: changes) }
    }
    show(changes)
  }

  private func suggest(for changes: [WatchState.Change]) {
    for change in changes where change.value == nil {
      guard let key = try? KeyArgument(change.key), let near = Suggestion.key(near: key.name, among: state.keys) else {
        continue
      }
      Output.say("'\(key.name)' is nil; did you mean '\(near)'?")
    }
  }

  private func failed(_ error: DBusError) {
    let isLater = error.name == .unknownObject && state.hasBegun
    if error.meansNoDaemon || isLater {
      show(state.replace(with: [:]))
    } else {
      stop(daemon.explained(CommandError(error), error, path))
    }
  }

  private func show(_ changes: [WatchState.Change]) {
    guard !changes.isEmpty else { return }
    do { try handler(changes) } catch { stop(error) }
  }
}
