package com.example.shipping;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.rabbitmq.client.Channel;
import org.junit.jupiter.api.Test;
import org.springframework.dao.QueryTimeoutException;

class ParcelListenerTest {

  private final ParcelEventStore events = mock(ParcelEventStore.class);
  private final Channel channel = mock(Channel.class);
  private final ParcelListener listener = new ParcelListener(new ObjectMapper(), events);

  @Test
  void isAcknowledgedOnceItIsStored() throws Exception {
    listener.onEvent("{\"id\":\"e1\"}".getBytes(), channel, 7);
    var order = inOrder(events, channel);
    order.verify(events).insertIfNew(any());
    order.verify(channel).basicAck(7, false);
  }

  @Test
  void comesBackWhereItIsNotStored() throws Exception {
    doThrow(new QueryTimeoutException("slow")).when(events).insertIfNew(any());
    listener.onEvent("{\"id\":\"e1\"}".getBytes(), channel, 7);
    verify(channel).basicNack(7, false, true);
    verify(channel, never()).basicAck(7, false);
  }
}
