public import DBusTypes

/// The keys of the focused text: ``FocusedValues/text``.
///
/// Positions count Unicode scalars, as `String.unicodeScalars` does.
public struct TextKeys: KeyGroup {
  static let interface = "org.focusd.Text"
  var values: FocusedValues

  /// The whole text: `org.focusd.Text.Content`, type `s`.
  ///
  /// Publish a constant binding if it cannot be edited, and make the field private if it is secret. While someone types,
  /// writing ``selectedText`` or ``insert`` is safer.
  public var content: Binding<String>? {
    get { self["Content"] }
    set { self["Content"] = newValue }
  }

  /// The text's length, in Unicode scalars: `org.focusd.Text.Length`, type `i`.
  public var length: Int? {
    get { self["Length", as: .int32] }
    set { self["Length", as: .int32] = newValue }
  }

  /// The position at which typing inserts, in Unicode scalars: `org.focusd.Text.Caret`, type `i`.
  public var caret: Binding<Int>? {
    get { self["Caret", as: .int32] }
    set { self["Caret", as: .int32] = newValue }
  }

  /// What is selected; both ends are the caret if nothing is: `org.focusd.Text.Selection`, type `(ii)`.
  public var selection: Binding<TextSelection>? {
    get { self["Selection"] }
    set { self["Selection"] = newValue }
  }

  /// The selected text: `org.focusd.Text.SelectedText`, type `s`.
  ///
  /// A write replaces the selection, or inserts at the caret.
  public var selectedText: Binding<String>? {
    get { self["SelectedText"] }
    set { self["SelectedText"] = newValue }
  }

  /// Types a text at the caret, over the selection: the command `org.focusd.Text.Insert`, with an argument of type `s`.
  public var insert: (@Sendable (String) async throws -> Void)? {
    get { self["Insert"] }
    set { self["Insert"] = newValue }
  }
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
    guard case .structure(let ends) = dbusValue.unwrapped, ends.count == 2 else {
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
