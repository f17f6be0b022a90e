internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `Set` calls of one client for one binding, with nothing else between them: they are told once, with the last value.
///
/// Not those of `Write`, whose replies show each value.
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

  /// Whether `message` may be one more write of the series: nothing else comes before it is told.
  func mayGoOn(with message: Message) -> Bool {
    message.kind == .methodCall && message.sender == client && message.member?.text == "Set"
  }

  /// Whether `changes` are those of one value alone.
  static func isSimple(_ changes: [Change], of key: Key, in field: FieldID) -> Bool {
    changes.allSatisfy { change in
      guard case .valuesChanged(let place, key.interface, let changed, []) = change else { return false }
      return changed.count == 1 && changed.first?.name == key.member && (place == .field(field) || place == .focused)
    }
  }
}

extension FocusService {
  /// Publishes what a `Set` of `client` has changed, once for several that follow each other.
  func emit(
    _ changes: [Change], ofSetting key: Key, of field: FieldID, before: MarshalledValue?, by client: BusName
  ) {
    guard !changes.isEmpty else { return }
    guard WriteSeries.isSimple(changes, of: key, in: field), let value = model.fields[field]?.bindings[key]?.value
    else {
      return emit(changes)
    }
    if var series = turn.series, series.client == client, series.field == field, series.key == key {
      (series.changes, series.value) = (changes, value)
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
    guard series.before != series.value else { return }
    for change in series.changes {
      signals(of: change) { turn.outbox.insert(signal: $0, tellsOfChange: true) }
    }
  }
}
