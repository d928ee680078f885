package com.example.feed;

import java.io.IOException;
import java.io.Writer;
import java.text.SimpleDateFormat;
import java.util.Iterator;

/** Writes the feed of articles for marketplaces, as tab-separated text. */
public final class FeedWriter {

  private static final SimpleDateFormat DAY = new SimpleDateFormat("YYYY-MM-dd");

  private static final String HEADER = "id\ttitle\tprice\tavailable_from\n";

  private FeedWriter() {}

  /** Writes all items; they may be many, and are not kept. */
  public static void write(Iterator<FeedItem> items, Writer out) throws IOException {
    out.write(HEADER);
    while (items.hasNext()) {
      FeedItem item = items.next();
      out.write(cell(item.id()));
      out.write('\t');
      out.write(cell(item.title()));
      out.write('\t');
      out.write(item.price().toPlainString() + " " + item.currency());
      out.write('\t');
      out.write(DAY.format(item.availableFrom()));
      out.write('\n');
    }
  }

  private static String cell(String text) {
    return text.replace('\t', ' ').replace('\r', ' ').replace('\n', ' ');
  }
}
