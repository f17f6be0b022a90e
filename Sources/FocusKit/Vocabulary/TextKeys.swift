public import DBusTypes

/// The keys of the focused text: ``FocusedValues/text``.
///
/// Positions count Unicode scalars, as `String.unicodeScalars` does.
public struct TextKeys: Sendable {
  /// The whole text: `org.focusd.Text.Content`, type `s`.
  ///
  /// Publish a constant binding if it cannot be edited, and make the field private if it is secret. While someone types,
  /// writing ``selectedText`` or ``insert`` is safer.
  public let content = SharedKey<Binding<String>>("org.focusd.Text.Content")
  /// The text's length, in Unicode scalars: `org.focusd.Text.Length`, type `i`.
  public let length = SharedKey<Int>("org.focusd.Text.Length", as: .int32)
  /// The position at which typing inserts, in Unicode scalars: `org.focusd.Text.Caret`, type `i`.
  public let caret = SharedKey<Binding<Int>>("org.focusd.Text.Caret", as: .int32)
  /// What is selected; both ends are the caret if nothing is: `org.focusd.Text.Selection`, type `(ii)`.
  public let selection = SharedKey<Binding<TextSelection>>("org.focusd.Text.Selection")
  /// The selected text: `org.focusd.Text.SelectedText`, type `s`.
  ///
  /// A write replaces the selection, or inserts at the caret. Of assignments to a ``FocusedBinding`` that follow each other
  /// quickly only the last is sent: type with ``insert``, or with `FocusClient.write`.
  public let selectedText = SharedKey<Binding<String>>("org.focusd.Text.SelectedText")
  /// Types a text at the caret, over the selection: the command `org.focusd.Text.Insert`, with an argument of type `s`.
  public let insert = SharedKey<@Sendable (String) async throws -> Void>("org.focusd.Text.Insert")
}

/// A part of a text, in Unicode scalars from its start.
public struct TextSelection: Hashable, Sendable, DBusRepresentable {
  /// The position of the first scalar that is selected.
  public var start: Int
  /// The position after the last scalar that is selected.
  public var end: Int

  /// Creates a selection; without `end`, a caret.
  public init(_ start: Int, _ end: Int? = nil) {
    self.start = start
    self.end = end ?? start
  }

  /// Creates the selection of a part of `text`.
  public init(_ range: Range<String.Index>, in text: String) {
    start = text.unicodeScalars.distance(from: text.startIndex, to: range.lowerBound)
    end = text.unicodeScalars.distance(from: text.startIndex, to: range.upperBound)
  }

  /// The selected part of `text`; nil if the text does not extend that far, or the end is before the start.
  public func range(in text: String) -> Range<String.Index>? {
    let scalars = text.unicodeScalars
    guard start >= 0, end >= start,
      let first = scalars.index(scalars.startIndex, offsetBy: start, limitedBy: scalars.endIndex),
      let last = scalars.index(first, offsetBy: end - start, limitedBy: scalars.endIndex)
    else { return nil }
    return first..<last
  }

  /// The type `(ii)`.
  public static var dbusType: DBusType { .structure([.int32, .int32]) }

  /// Creates the selection from its two ends.
  /// - Throws: `DBusConversionError` if it is not two integers.
  public init(dbusValue: DBusValue) throws {
    guard case .structure(let ends) = dbusValue.lookedThrough, ends.count == 2 else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self.init(try Int(dbusValue: ends[0]), try Int(dbusValue: ends[1]))
  }

  /// The two ends.
  /// - Throws: `DBusConversionError` if one does not fit the type `i`.
  public func dbusValue() throws -> DBusValue {
    guard let start = Int32(exactly: start), let end = Int32(exactly: end) else {
      throw DBusConversionError("the selection from \(start) to \(end) does not fit the type '(ii)'")
    }
    return .structure([.int32(start), .int32(end)])
  }
}
