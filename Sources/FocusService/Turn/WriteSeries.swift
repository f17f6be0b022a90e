internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Writes of one client to one binding, with nothing else between them: they are told once, with the last value.
struct WriteSeries {
  let client: BusName
  let field: FieldID
  let key: Key
  /// What the binding held before, which has been told.
  let before: MarshalledValue?
  /// What the last write changed.
  var changes: [Change]
  /// What the binding holds after that.
  var value: MarshalledValue
  var count = 1

  /// Whether `message` may be one more write of the series: nothing else comes before it is told.
  func mayGoOn(with message: Message) -> Bool {
    message.kind == .methodCall && message.sender == client && WriteSeries.members.contains(message.member?.text ?? "")
  }

  private static let members: Set<String> = ["Set", "Write"]

  /// Whether `changes` are of one value alone.
  static func isSimple(_ changes: [Change]) -> Bool {
    changes.allSatisfy { if case .valuesChanged(_, _, let changed, []) = $0 { changed.count == 1 } else { false } }
  }
}

extension FocusService {
  /// Publishes what a write of `client` has changed, once for several writes that follow each other.
  func emit(
    _ changes: [Change], ofWriteTo key: Key, of field: FieldID, before: MarshalledValue?, by client: BusName
  ) {
    guard !changes.isEmpty else { return }
    guard WriteSeries.isSimple(changes), let value = model.fields[field]?.bindings[key]?.value else {
      return emit(changes)
    }
    if var series = turn.series, series.client == client, series.field == field, series.key == key {
      (series.changes, series.value) = (changes, value)
      series.count += 1
      turn.series = series
    } else {
      endSeries()
      // What shows the value of before must not come after what tells of this one.
      if turn.outbox.showsValues { turn.outbox.seal() }
      turn.series = WriteSeries(client: client, field: field, key: key, before: before, changes: changes, value: value)
    }
  }

  /// Publishes what a series of writes has changed; nothing if that is what was told before.
  func endSeries() {
    guard let series = turn.series else { return }
    turn.series = nil
    guard series.count == 1 || series.before != series.value else { return }
    for change in series.changes {
      signals(of: change) { turn.outbox.insert(signal: $0, tellsOfChange: true) }
    }
  }
}
